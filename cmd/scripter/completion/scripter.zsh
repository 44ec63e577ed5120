#compdef scripter
# Completion of scripter for zsh. Made by "scripter completion zsh".
_scripter() {
	local program=${${(Q)words[1]}/#\~\//$HOME/} typed=$PREFIX line text about
	local -a lines options shown
	integer width=0
	case $compstate[quote] in
	'') typed=${(Q)PREFIX} ;;
	\") typed=${(Q):-\"$PREFIX\"} ;;
	esac
	lines=("${(@f)$($program __offers zsh "${(@Q)words[2,CURRENT-1]}" "$typed" 2>/dev/null)}")
	if [[ $typed == -*=* ]]; then
		compset -P '*='
		typed=${typed#*=}
	fi
	case $lines[1] in
	files) _files; return ;;
	folders) _files -/; return ;;
	esac
	shift lines
	for line in $lines; do
		text=${${line#?}%%$'\t'*}
		((width < $#text)) && width=$#text
	done
	for line in $lines; do
		text=${${line#?}%%$'\t'*} about=${line#*$'\t'}
		options=(-V scripter)
		[[ $line == -* ]] && options+=(-S '')
		[[ $text == ${(b)typed}* ]] || options+=(-U) # another spelling of what was typed
		shown=("$text")
		if [[ -n $about ]]; then
			options+=(-l)
			shown=("${(r:width:)text}  -- $about")
		fi
		compadd "${options[@]}" -d shown -- "$text"
	done
}
if [[ $funcstack[1] == _scripter ]]; then
	_scripter "$@"
else
	compdef _scripter scripter
fi
