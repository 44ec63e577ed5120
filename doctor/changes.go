package doctor

// notUTF8 makes lighttpd pass paths that are not UTF-8 to Scripter.
const notUTF8 = `$HTTP["url"] !~ "^/" { fastcgi.server = ( "/" => (( ` +
	`"socket" => "/run/scripter/scripter.sock", "check-local" => "disable", "fix-root-scriptname" => "enable" )) ) }` +
	` (as CGI: url.rewrite-once = ( "^/.*" => "/cgi-bin/Scripter.acgi$0" ))` +
	"\n" + `$HTTP["url"] =^ "/override/" (in place of =~ "^/override/.")`

// changes has the lines to change, by check, web server and the way in which it
// calls Scripter: "check server-way", "check server" or "check". The files of
// conf-examples have the same lines where they belong.
var changes = map[string]string{
	"reach": "start the web server, or give its address with --url",

	"status apache": `<Location "/server-status"> SetHandler server-status, Require local </Location> ` +
		`(a2enmod status)`,
	"software apache": "ServerTokens Full",
	"software nginx":  "fastcgi_param SERVER_SOFTWARE nginx/$nginx_version;",

	"standby": "synchronous_standby_names and synchronous_commit in postgresql.conf " +
		"(https://www.postgresql.org/docs/current/warm-standby.html#SYNCHRONOUS-REPLICATION)",

	"SCRIPTER apache": `<LocationMatch "(?i)^/(?!cgi-bin/).*\.fcgi([/$]|$)"> SetHandler SCRIPTER </LocationMatch>` +
		"\nAction SCRIPTER /cgi-bin/Scripter.acgi virtual",
	"SCRIPTER nginx": `location ~* ^/(?!cgi-bin/).*\.fcgi([/$]|$) { fastcgi_pass scripter; }`,
	"SCRIPTER lighttpd": `$HTTP["url"] =~ "(?i)^/(?!cgi-bin/).*\.fcgi([/$]|$)" { fastcgi.server = ( "/" => (( ` +
		`"socket" => "/run/scripter/scripter.sock", "check-local" => "disable", ` +
		`"fix-root-scriptname" => "enable" )) ) }`,
	"SCRIPTER caddy": `@script path_regexp (?i)^/.*\.fcgi([/$]|$), and: ` +
		`reverse_proxy @script unix//run/scripter/scripter.sock { transport fastcgi { split .fcgi } }`,
	"SCRIPTER": "bind URLs with .fcgi to Scripter",

	"fcgid": `RemoveHandler .fcgi (in the <Directory> of the pages; ` +
		`or take "AddHandler fcgid-script .fcgi" out of fcgid.conf)` +
		"\n" + `<LocationMatch "(?i)^/(?!cgi-bin/).*\.fcgi([/$]|$)"> SetHandler SCRIPTER </LocationMatch>` +
		"\nAction SCRIPTER /cgi-bin/Scripter.acgi virtual",

	"MACRO apache": `<FilesMatch "(?i)\.mcro$"> SetHandler MACRO </FilesMatch>` +
		"\nAction MACRO /cgi-bin/Scripter.acgi",
	"MACRO nginx": `location ~* ^/(?!cgi-bin/).*\.mcro(/|$) { fastcgi_pass scripter; }`,
	"MACRO lighttpd": `$HTTP["url"] =~ "(?i)\.mcro(/|$)" { ` +
		`fastcgi.server = ( "" => (( "socket" => "/run/scripter/scripter.sock", "check-local" => "enable" )) ) }`,
	"MACRO caddy": `@page path_regexp (?i)^/.*\.mcro(/|$), and: ` +
		`reverse_proxy @page unix//run/scripter/scripter.sock { transport fastcgi { split .mcro } }`,

	"source apache": `<FilesMatch "(?i)\.mcro$"> SetHandler MACRO </FilesMatch>` +
		"\nAction MACRO /cgi-bin/Scripter.acgi",
	"source nginx":    `location ~* ^/(?!cgi-bin/).*\.mcro(/|$) { fastcgi_pass scripter; }`,
	"source lighttpd": `static-file.exclude-extensions = ( ".fcgi", ".mcro", ".acgi" )`,
	"source caddy":    "file_server { hide *.mcro *.fcgi }",
	"source":          "bind .mcro to Scripter, and forbid to send such files",

	"index apache":   "DirectoryIndex index.html default.mcro",
	"index nginx":    "index index.html default.mcro;",
	"index lighttpd": `index-file.names = ( "index.html", "default.mcro" )`,
	"index caddy": "@index { path */, file { try_files {path}index.html {path}default.mcro } }, and: " +
		"rewrite @index {http.matchers.file.relative}",

	"routes apache-nph": `RewriteCond "%{DOCUMENT_ROOT}$1" !-f` +
		"\n" + `RewriteRule "^(/(?!cgi-bin/).*)$" "/cgi-bin/nph-Scripter.acgi$1" [PT] (apache-nph.conf has all lines)`,
	"routes apache": "Action ROUTE /cgi-bin/Scripter.acgi virtual\n" +
		`<If "! -f %{REQUEST_FILENAME} && %{REQUEST_URI} !~ m#^/cgi-bin/#"> SetHandler ROUTE </If> ` +
		"(apache-cgi.conf has all conditions)",
	"routes nginx": "location / { try_files $uri $uri/ @routes; }\n" +
		"location @routes { fastcgi_pass scripter; }",
	"routes lighttpd-cgi": `url.rewrite-if-not-file = ( "^(/[^?]*)(\?.*)?$" => "/cgi-bin/Scripter.acgi$1$2" ) ` +
		"(lighttpd-cgi.conf has all rules)",
	"routes lighttpd": `url.rewrite-if-not-file = ( "^(/[^?]*)(\?.*)?$" => "/Scripter.acgi$1$2" ) ` +
		"(lighttpd-fastcgi.conf has all lines)",
	"routes caddy": `@route not file {path} {path}/index.html {path}/default.mcro, and: ` +
		`reverse_proxy @route unix//run/scripter/scripter.sock { transport fastcgi }`,
	"routes": "pass URLs that are no files on to Scripter",

	"handler apache": "start scripter-fcgi (a daemon), or a2enmod cgid and ScriptSock with an absolute path (CGI); " +
		"the handler must be executable",
	"handler nginx": "start scripter-fcgi --listen unix:/run/scripter/scripter.sock (or fcgiwrap), " +
		"with a socket that nginx's user may write to; fastcgi_pass must name that socket",
	"handler": "start scripter-fcgi, with a socket that the web server's user may write to",

	"root": "give doctor the web server's root with --root, or name this one there " +
		"(SCRIPTER_ROOT, scripter.conf, scripter-fcgi --root); " +
		"a daemon that was started before the file was replaced must be started again",

	"path nginx-fastcgi": "fastcgi_param SCRIPT_NAME $fastcgi_script_name;\n" +
		"fastcgi_param PATH_INFO $fastcgi_path_info;",
	"path nginx-fcgiwrap": "fastcgi_param SCRIPT_NAME /cgi-bin/Scripter.acgi;\nfastcgi_param PATH_INFO $uri;",
	"path lighttpd":       `"fix-root-scriptname" => "enable"`,
	"path caddy":          "transport fastcgi { split .fcgi }",
	"path apache":         "Action SCRIPTER /cgi-bin/Scripter.acgi virtual",

	"pattern nginx":    `location ~* ^/(?!cgi-bin/).*\.fcgi([/$]|$)`,
	"pattern apache":   `<LocationMatch "(?i)^/(?!cgi-bin/).*\.fcgi([/$]|$)">`,
	"pattern lighttpd": `$HTTP["url"] =~ "(?i)^/(?!cgi-bin/).*\.fcgi([/$]|$)"`,
	"pattern caddy":    `path_regexp (?i)^/.*\.fcgi([/$]|$)`,
	"letters nginx":    `location ~* ^/(?!cgi-bin/).*\.fcgi([/$]|$) (the sign is ~*, not ~)`,
	"extension apache": `<LocationMatch "(?i)^/(?!cgi-bin/).*\.fcgi([/$]|$)"> SetHandler SCRIPTER </LocationMatch> ` +
		`instead of AddHandler`,

	"action nginx":   "fastcgi_param REDIRECT_HANDLER $scripter_action;",
	"action caddy":   "transport fastcgi { env REDIRECT_HANDLER SCRIPTER }",
	"action":         "scripter get user.webserver.mimeTable: .fcgi wants the action SCRIPTER, .mcro MACRO",
	"override nginx": "fastcgi_param REDIRECT_HANDLER $scripter_action;",
	"override caddy": "transport fastcgi { env REDIRECT_HANDLER SCRIPTER } (MACRO for pages)",
	"override apache": "Action SCRIPTER /cgi-bin/Scripter.acgi virtual " +
		"(an Action tells it; ScriptAliasMatch and ProxyPassMatch do not)",

	"page file nginx-fastcgi": "fastcgi_param SCRIPT_FILENAME $document_root$fastcgi_script_name;\n" +
		"fastcgi_param DOCUMENT_ROOT $document_root;",
	"page file nginx-fcgiwrap": "fastcgi_param PATH_TRANSLATED $document_root$uri;\n" +
		"fastcgi_param DOCUMENT_ROOT $document_root;",
	"page file": "the page must lie below the document root, " +
		"or in a folder that user.webserver.pageFolders lists",
	"document root lighttpd": "put cgi-bin inside the document root, without alias.url",

	"proxy nginx":    `fastcgi_param HTTP_PROXY "";`,
	"proxy caddy":    "header_up -Proxy",
	"proxy apache":   "RequestHeader unset Proxy early",
	"proxy lighttpd": `setenv.set-request-header = ( "Proxy" => "" )`,

	"authorization apache": "CGIPassAuth On (in the <Directory> of the handler, not of the pages)",
	"authorization nginx":  "fastcgi_param HTTP_AUTHORIZATION $http_authorization;",
	"authorization caddy":  "leave out header_up -Authorization",

	"user nginx": "fastcgi_param REMOTE_USER $scripter_user;\nmap $uri $scripter_user { default \"\"; }\n" +
		"set $scripter_user $remote_user; (beside each auth_basic)",
	"user": "pass REMOTE_USER for names that the web server has checked, and for no others",

	"body apache-fcgid": "FcgidMaxRequestLen 16777216",
	"body apache":       "LimitRequestBody 16777216",
	"body nginx":        "client_max_body_size 16m;",
	"body lighttpd":     "server.max-request-size = 16384",
	"body caddy":        "request_body { max_size 16MB }",

	"buffering apache-fcgid": "FcgidOutputBufferSize 0",
	"buffering apache-proxy-fcgi": `<Proxy "unix:/run/scripter/scripter.sock|fcgi://localhost/"> ` +
		`ProxySet flushpackets=on </Proxy>, ` +
		`with the same URL in SetHandler`,
	"buffering nginx-fcgiwrap": "fastcgi_buffering off;\nfastcgi_param NO_BUFFERING 1;",
	"buffering nginx":          "fastcgi_buffering off;",
	"buffering lighttpd":       "server.stream-response-body = 1",
	"buffering caddy":          "flush_interval -1",
	"compression apache": `SetEnvIf Request_URI "^/NAME\.fcgi([/$]|$)" no-gzip ` +
		`(only for a script that calls webserver.sendPartial; ` +
		`all others stay compressed)`,
	"compression nginx": "gzip off; (only in a location of the scripts that call webserver.sendPartial)",
	"compression caddy": "@other not path /NAME.fcgi, and: encode @other gzip " +
		"(only for a script that calls webserver.sendPartial)",
	"HEAD nginx":         "let the method HEAD pass (limit_except, if ($request_method …))",
	"HEAD apache":        "let the method HEAD pass (<Limit>, <LimitExcept>, AllowMethods)",
	"status field caddy": "header_down -Status",
	"twice caddy":        "header_down -Server",
	"twice nginx":        "leave out add_header for that field, or hide ours: fastcgi_hide_header",
	"twice":              "let the web server set that field, not add it",
	"second answer apache": `ScriptAliasMatch "(?is)^/(?!cgi-bin/).*\.fcgi([/$].*)?$" ` +
		`"/srv/scripter/cgi-bin/nph-Scripter.acgi" ` +
		`(an nph- program must not be reached by Action)`,
	"cache nginx":        "leave out expires for these locations",
	"cache apache":       "leave out ExpiresByType text/html and Header set Cache-Control for these URLs",
	"cache caddy":        "leave out header_down Cache-Control",
	"cache lighttpd":     "leave out expire.url for these URLs",
	"error pages nginx":  "fastcgi_intercept_errors off;",
	"error pages apache": "ProxyErrorOverride Off",
	"error pages lighttpd": "leave out server.error-handler and server.errorfile-prefix for these URLs, " +
		"or: server.error-intercept = \"disable\"",
	"error pages caddy": "leave out handle_response for these URLs",
	"status nginx":      "fastcgi_intercept_errors off;",
	"redirect apache":   "leave out Header edit Location for these URLs",
	"redirect nginx":    "leave out sub_filter and header rules for Location",
	"redirect caddy":    "leave out header_down Location",
	"direct call nginx": "fastcgi_param REQUEST_URI $request_uri;",
	"direct call":       "pass REQUEST_URI, or forbid the handler's own URL",
	"public lighttpd": `cgi.assign = ( "/cgi-bin/Scripter.acgi" => "" ), and: ` +
		`$HTTP["url"] =~ "^/cgi-bin/(?!Scripter\.acgi(?:/|$))" { url.access-deny = ( "" ) }` + "\n" + notUTF8,
	"public nginx":       `if ($uri ~* "^/cgi-bin(/|$)") { return 404; }`,
	"public caddy":       "@cgi path /cgi-bin /cgi-bin/*, and: error @cgi 404",
	"not UTF-8 lighttpd": notUTF8,
	"not UTF-8":          "use no regular expression that needs UTF-8 in rules for pages or files",
	"spelling lighttpd":  notUTF8 + "\n" + `$HTTP["url"] =~ "(?i)\.mcro[^/$]" { url.access-deny = ( "" ) }`,
	"spelling apache":    `<FilesMatch "(?i)\.mcro[^$]"> Require all denied </FilesMatch>`,
	"spelling nginx":     `if ($uri ~* "\.mcro[^/$]") { return 404; }`,
	"spelling caddy":     `@private path_regexp (?i)\.mcro[^/$], and: error @private 404`,
	"spelling":           "forbid files with .mcro inside their names",
	"other host caddy": "@folder { path_regexp folder ^(/.*[^/])$, file {path}/ }, and: " +
		"redir @folder {re.folder.1}/ 308",
	"other host":       "redirect folders to the cleaned path, not to the path of the request",
	"underscore caddy": "header_up -*_*",
	"underscore lighttpd": `setenv.set-request-header = ( "X_Real_Ip" => "", "X-Real_Ip" => "", "X_Real-Ip" => "" ), ` +
		`and the same for each field that your proxy sets`,
	"underscore nginx": "underscores_in_headers off;",
	"underscore":       "drop fields with _ in their names",
	"purge": "varnishd -a visitors=… -a purge=127.0.0.1:6082, " +
		"and in vcl_recv: if (local.socket != \"purge\" || client.ip !~ purgers) { return (synth(405)); }\n" +
		"scripter settings cacheServers '[\"http://127.0.0.1:6082\"]'",
	"public apache": `ScriptAlias /cgi-bin/ "/srv/scripter/cgi-bin/" ` +
		`(a folder outside the document root)`,
	"public":      "put handler, configuration and root into folders outside the document root",
	"rights":      "sudo chown -R www-data: the root's folder (as whom the web server runs)",
	"query nginx": "fastcgi_param QUERY_STRING $query_string;",
}
