# Completion of scripter for fish. Made by "scripter completion fish".
function __scripter_offers
    set -l words (commandline -opc)
    set -l program (string replace -r '^~/' "$HOME/" -- $words[1])
    set -l typed (commandline -ct)
    switch $typed
        case "'*"
            set typed (string replace -r "^'" '' -- $typed | string replace -ar '\\\\([\\\\\'])' '$1')
        case '"*'
            set typed (string replace -r '^"' '' -- $typed | string replace -ar '\\\\([\\\\"$])' '$1')
        case '*'
            set typed (string unescape -- $typed)
    end
    set -l lines ($program __offers fish $words[2..-1] "$typed" 2>/dev/null)
    set -l flag (string match -r '^-[^=]*=' -- $typed)
    switch $lines[1]
        case files
            for path in (__fish_complete_path (string replace -r '^-[^=]*=' '' -- $typed))
                echo "$flag$path"
            end
        case folders
            for path in (__fish_complete_directories (string replace -r '^-[^=]*=' '' -- $typed) '')
                echo "$flag$path"
            end
        case '*'
            printf '%s\n' $lines[2..-1]
    end
end
complete -c scripter -f -k -a '(__scripter_offers)'
