# Starts one of several Redis servers that Sentinels fail over, or its Sentinel: redis-start.sh server|sentinel ADDRESS [OPTION…]
#
#   ADDRESS         of this server or Sentinel, as the others reach it
#   SERVERS         addresses of all servers; the first one is the primary of the first start
#   SENTINELS       addresses of all Sentinels
#   REDISCLI_AUTH   password of all
#
# A server starts as what most Sentinels say, and until then waits. A write counts when all other servers have it on disk.
set -eu
role=$1 own=$2
shift 2
conf=${CONF:-/opt/redis} data=${DATA:-/data}
port=${PORT:-6379} sentinel_port=${SENTINEL_PORT:-26379}
# The first process of a container ignores a signal without a trap.
trap 'exit 143' TERM INT

# Prints the primary that more than half of the Sentinels name.
primary() {
  for at in $SENTINELS; do
    timeout 2 redis-cli -h "$at" -p "$sentinel_port" sentinel get-master-addr-by-name waybridge 2>/dev/null | head -n 1
  done | sort | uniq -c | while read -r count named; do
    case " $SERVERS " in
      *" $named "*) [ $((2 * count)) -le "$(echo "$SENTINELS" | wc -w)" ] || echo "$named" ;;
    esac
  done
}

others_are_empty() {
  for at in $SERVERS; do
    [ "$at" = "$own" ] || [ "$(timeout 5 redis-cli -h "$at" -p "$port" dbsize 2>/dev/null)" = 0 ] || return 1
  done
}

if [ "$role" = sentinel ]; then
  # The Sentinel writes into its file. Its id is made from its address, so that one without its file is no further one for the others.
  file=sentinel.conf
  cd "$data"
  if [ ! -s "$file" ]; then
    named=$(primary)
    umask 077
    {
      echo "dir ."
      echo "port $sentinel_port"
      echo "requirepass $REDISCLI_AUTH"
      echo "sentinel myid $(echo "$own" | sha1sum | cut -d ' ' -f 1)"
      echo "sentinel announce-ip $own"
      echo "sentinel monitor waybridge ${named:-${SERVERS%% *}} $port $(($(echo "$SENTINELS" | wc -w) / 2 + 1))"
      echo "sentinel auth-pass waybridge $REDISCLI_AUTH"
      cat "$conf/sentinel.conf"
    } > "$file.new"
    mv "$file.new" "$file"
  fi
  exec redis-server "$file" --sentinel "$@"
fi

said=
while
  named=$(primary)
  case $named in
    '') why='most Sentinels name no primary' ;;
    "$own")
      # Redis writes the manifest last, and without it starts empty. An empty primary would empty its replicas.
      why='this folder is empty, and the others are not known to be: the Sentinels have to name another primary'
      { [ -s "$data/appendonlydir/appendonly.aof.manifest" ] || others_are_empty; } && why=
      ;;
    *) why= ;;
  esac
  [ -n "$why" ]
do
  [ "$why" = "$said" ] || echo "Waiting: $why." >&2
  said=$why
  sleep 1
done
[ "$named" = "$own" ] || set -- --replicaof "$named" "$port" "$@"
# By way of standard input the file is not rewritten when a Sentinel changes the role: the next start asks the Sentinels again.
exec redis-server - --port "$port" --requirepass "$REDISCLI_AUTH" --masterauth "$REDISCLI_AUTH" \
  --min-replicas-to-write $(($(echo "$SERVERS" | wc -w) - 1)) --replica-announce-ip "$own" "$@" < "$conf/redis.conf"
