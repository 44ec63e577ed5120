# Completion of scripter for bash 4.4 or later. Made by "scripter completion bash".
_scripter() {
	local answer
	answer=$("${1/#\~/$HOME}" __offers bash "$2" "${COMP_LINE:0:COMP_POINT}" 2>/dev/null) || return
	COMPREPLY=()
	if [[ $answer == *$'\n'* ]]; then
		mapfile -t COMPREPLY <<<"${answer#*$'\n'}"
	fi
	case ${answer%%$'\n'*} in
	files) compopt -o default ;;
	folders) compopt -o dirnames ;;
	open) compopt -o nospace ;;
	esac
}
complete -o nosort -F _scripter scripter
