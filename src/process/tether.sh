# Runs a command that ends when the process that started this one does, however that ends: tether.sh COMMAND ARGUMENTS
#
# Standard input is the far end of a pipe; the kernel closes the near one when its owner dies, and the watcher's `read`
# returns. A background job's standard input is /dev/null, therefore descriptor 3; a trapped signal ends `wait` early,
# therefore the loop. TETHER_GRACE_S seconds pass before the program is ended: its users may have something to end with it.
# What the program said last stays the last word: the shell would say that the watcher was terminated.
exec 3<&0 </dev/null
"$@" 3<&- &
program=$!
(read -r _ <&3; sleep "${TETHER_GRACE_S:-0}"; kill "$program") 2>/dev/null &
watcher=$!
exec 3<&-
trap 'kill "$program"' TERM INT HUP
wait "$program"; code=$?
while kill -0 "$program" 2>/dev/null; do wait "$program"; code=$?; done
exec 2>/dev/null
kill "$watcher"
wait "$watcher"
exit "$code"
