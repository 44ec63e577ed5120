package main

import (
	_ "embed"
	"fmt"
	"os"
	"strings"
)

// floorSource is a FastCGI responder that reads requests and sends one page.
// No responder can be faster.
//
//go:embed peers/floor.c
var floorSource string

// phpPages returns the works in PHP, as its users write them: a persistent
// connection, prepared statements, output straight to the web server.
func phpPages(db string) map[string]string {
	open := fmt.Sprintf(`$db = new PDO("sqlite:%s", null, null, [PDO::ATTR_PERSISTENT => true,
	PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION]);
`, strings.Replace(db, "/php.db", "/phpdata/php.db", 1))
	var setup strings.Builder
	setup.WriteString("<?php\n" + open + `$db->exec("PRAGMA journal_mode = WAL");
$db->exec("CREATE TABLE IF NOT EXISTS kv (name TEXT PRIMARY KEY, value TEXT)");
$q = $db->prepare("INSERT OR REPLACE INTO kv VALUES (?, ?)");
$q->execute(["n", "0"]);
`)
	for _, n := range values() {
		fmt.Fprintf(&setup, "$q->execute([%q, %q]);\n", n, value(n))
	}
	setup.WriteString(`$db->exec("CREATE TABLE IF NOT EXISTS guestbook (id TEXT PRIMARY KEY, name TEXT, text TEXT, reply TEXT)");
$db->beginTransaction();
$q = $db->prepare("INSERT OR REPLACE INTO guestbook VALUES (?, ?, ?, ?)");
`)
	for _, e := range entries() {
		fmt.Fprintf(&setup, "$q->execute([%q, %q, %q, %q]);\n", e.key, e.name, e.text, e.reply)
	}
	setup.WriteString("$db->commit();\n")
	setup.WriteString("echo \"ready\\n\";\n")
	head := "<?php header('Content-Type: text/html');\n"
	return map[string]string{
		"setup.php": setup.String(),
		"W1.php":    head + "?>" + hello,
		"W2.php": head + open + `$q = $db->prepare("SELECT value FROM kv WHERE name = ?");
function value($q, $name) { $q->execute([$name]); return $q->fetchColumn(); }
?>` + template(func(n string) string { return "<?php echo value($q, '" + n + "') ?>" }),
		"W3.php": head + open + `$db->exec("PRAGMA synchronous = FULL");
$db->exec("PRAGMA busy_timeout = 5000");
$n = $db->query("UPDATE kv SET value = value + 1 WHERE name = 'n' RETURNING value")->fetchColumn();
echo "count $n\n";
`,
		"W4.php": head + `echo "<dl>\n";
foreach ($_POST as $name => $value) {
	echo "<dt>", htmlspecialchars($name, ENT_QUOTES), "</dt><dd>",
		str_replace("&#039;", "&#39;", htmlspecialchars($value, ENT_QUOTES)), "</dd>\n";
}
echo "</dl>\n";
`,
		"W5.php": `<?php header('Content-Type: text/plain');
$piece = str_repeat("x", 24 * 1024);
for ($i = 0; $i < 426; $i++) { echo $piece; flush(); }
echo str_repeat("x", 10 * 1024 * 1024 - 426 * 24 * 1024);
`,
		"W6a.php": head + `function fib($n) { return $n < 2 ? $n : fib($n - 1) + fib($n - 2); }
echo "fib ", fib(27), "\n";
`,
		"W6b.php": head + `$t = [];
for ($i = 1; $i <= 200000; $i++) { $t[] = "<li>" . $i . "</li>"; }
echo "joined ", strlen(implode("", $t)), "\n";
`,
		"W9.php": head + open + `$q = $db->prepare("SELECT value FROM kv WHERE name = ?");
function value($q, $name) { $q->execute([$name]); return $q->fetchColumn(); }
function e($text) { return htmlspecialchars($text, ENT_QUOTES); }
$title = "Guestbook";
ob_start();
?>

<h1>Guestbook</h1>
<?php $i = 0;
foreach ($db->query("SELECT * FROM guestbook ORDER BY id DESC LIMIT 50", PDO::FETCH_OBJ) as $entry): $i++ ?>

<article><h2><?= $i ?>. <a href="/entry?id=<?= rawurlencode($entry->id) ?>"><?= e($entry->name) ?></a></h2>
<p><?= e($entry->text) ?></p><?php if ($entry->reply): ?><blockquote><?= e($entry->reply) ?></blockquote><?php endif ?></article>
<?php endforeach; if ($i == 0): ?><p>Be the first to write.</p><?php endif; $content = ob_get_clean();
include "parts/layout.php";
`,
	}
}

// luaWorks are the works in nginx's own Lua (LuaJIT).
var luaWorks = map[string]string{
	"W1": "ngx.print(" + luaString(hello) + ")",
	"W6a": `local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
ngx.print("fib ", fib(27), "\n")`,
	"W6b": `local t = {} for i = 1, 200000 do t[i] = "<li>" .. i .. "</li>" end
ngx.print("joined ", #table.concat(t), "\n")`,
}

// nginxConf returns the configuration of one nginx in front of all peers: one worker,
// keepalive connections to each peer, and the buffers of conf-examples for all.
func (s *stage) nginxConf() string {
	var b strings.Builder
	modules := ""
	for _, m := range []string{"ndk_http_module.so", "ngx_http_lua_module.so"} {
		if p := "/usr/lib/nginx/modules/" + m; exists(p) {
			modules += "load_module " + p + ";\n"
		}
	}
	user := ""
	if os.Getuid() == 0 {
		user = "user www-data;\n"
	}
	fmt.Fprintf(&b, `%s%sdaemon off;
worker_processes 1;
pid %s;
error_log %s;
events { worker_connections 1024; }
http {
	access_log off;
`, modules, user, s.path("nginx.pid"), s.path("nginx.log"))
	for _, kind := range []string{"client_body", "fastcgi", "proxy", "uwsgi", "scgi"} {
		fmt.Fprintf(&b, "\t%s_temp_path %s;\n", kind, s.path("nginx-"+kind))
	}
	for name, sock := range map[string]string{"ours": "ours.sock", "php": "php.sock", "floor": "floor.sock"} {
		fmt.Fprintf(&b, "\tupstream %s { server unix:%s; keepalive 64; }\n", name, s.path(sock))
	}
	fmt.Fprintf(&b, `	include /etc/nginx/fastcgi.conf;
	fastcgi_keep_conn on;
	fastcgi_buffers 8 64k;
	fastcgi_buffer_size 64k;
	server {
		listen 127.0.0.1:%d;
		root %s;
		location ~ \.(fcgi|mcro)$ { fastcgi_pass ours; }
		location ~ \.php$ { fastcgi_pass php; }
		location = /floor { fastcgi_pass floor; }
`, s.port, s.path("site"))
	if strings.Contains(modules, "lua") {
		for name, code := range luaWorks {
			fmt.Fprintf(&b, "\t\tlocation = /lua-%s { default_type text/html; content_by_lua_block { %s } }\n",
				name, code)
		}
	}
	b.WriteString("\t}\n")
	for _, n := range sizes {
		fmt.Fprintf(&b, `	upstream size%d { server unix:%s; keepalive 64; }
	server {
		listen 127.0.0.1:%d;
		root %s;
		location ~ \.(fcgi|mcro)$ { fastcgi_pass size%[1]d; }
	}
`, n, s.path(fmt.Sprintf("size-%d.sock", n)), s.ports[sizePeer(n)], s.path("site"))
	}
	b.WriteString("}\n")
	return b.String()
}

func exists(p string) bool {
	_, err := os.Stat(p)
	return err == nil
}
