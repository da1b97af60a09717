# Starts one of two Redis servers: redis-start.sh primary|replica CONF HOST PORT [OPTION…]; HOST and PORT are the other one's, the
# password of both is REDISCLI_AUTH. A write counts when the other one has it on disk.
#
# A primary with an empty folder would empty its replica. So it asks the other one for its number of keys first: with 0 it starts, with
# more it does not (make the other one the primary, as README.md in this folder says, or delete its data as well), and until there is
# a number, as while the other one loads its data, it waits.
set -eu
role=$1 conf=$2 host=$3 port=$4
shift 4
set -- "$conf" --requirepass "$REDISCLI_AUTH" --masterauth "$REDISCLI_AUTH" --min-replicas-to-write 1 "$@"
if [ "$role" = replica ]; then
  exec redis-server "$@" --replicaof "$host" "$port"
fi
# Redis writes the manifest last, and without it starts empty.
if [ ! -s "${DATA:-/data}/appendonlydir/appendonly.aof.manifest" ]; then
  # The first process of a container ignores a signal without a trap.
  trap 'exit 143' TERM INT
  said=-
  until
    keys=$(timeout 5 redis-cli -h "$host" -p "$port" dbsize 2>&1 || true)
    [ "$keys" = 0 ]
  do
    case $keys in
      '' | *[!0-9]*) ;;
      *)
        echo "The folder of this primary is empty, and $host has $keys keys: make $host the primary." >&2
        exit 1
        ;;
    esac
    [ "$keys" = "$said" ] || echo "The folder of this primary is empty: waiting for the number of keys of $host ($keys)." >&2
    said=$keys
    sleep 1
  done
fi
exec redis-server "$@"
