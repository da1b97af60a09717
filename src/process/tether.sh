# Runs a command that ends when the process that started this script ends, however that ends: tether.sh COMMAND ARGUMENTS
#
# Standard input is the read end of a pipe. The kernel closes the write end when its owner dies; then `read` returns in the
# watcher, which waits TETHER_GRACE_S seconds (the program's users may need it to finish), sends SIGTERM to the program and,
# 5 s later, SIGKILL. The watcher ignores signals: otherwise a SIGTERM to every process of the tree would end it first.
# A background job's standard input is /dev/null, so descriptor 3 carries the pipe. A trapped signal interrupts `wait`, so
# there is a loop. At the end stderr is closed: the program's last line must stay the last line of the log.
exec 3<&0 </dev/null
program='' ending=''
trap 'ending=1; [ -z "$program" ] || kill "$program"' TERM INT HUP
"$@" 3<&- &
program=$!
[ -z "$ending" ] || kill "$program"
(
  trap '' TERM INT HUP
  read -r _ <&3
  sleep "${TETHER_GRACE_S:-0}"
  kill "$program"
  for _ in 1 2 3 4 5; do
    sleep 1
    kill -0 "$program" || exit
  done
  kill -9 "$program"
) 2>/dev/null &
watcher=$!
exec 3<&-
wait "$program"; code=$?
while kill -0 "$program" 2>/dev/null; do wait "$program"; code=$?; done
exec 2>/dev/null
kill -9 "$watcher"
wait "$watcher"
exit "$code"
