# Starts one of two Redis servers: redis-start.sh primary|replica CONF HOST PORT [OPTION…]; HOST and PORT are the other one's, the
# password of both is REDISCLI_AUTH. A write counts when the other one has it on disk.
#
# A primary with an empty folder would empty its replica: where the other one has data, it does not start. Then make that one the
# primary (README.md in this folder), or delete its data as well.
set -eu
role=$1 conf=$2 host=$3 port=$4
shift 4
set -- "$conf" --requirepass "$REDISCLI_AUTH" --masterauth "$REDISCLI_AUTH" --min-replicas-to-write 1 "$@"
if [ "$role" = replica ]; then
  exec redis-server "$@" --replicaof "$host" "$port"
fi
if [ ! -e "${DATA:-/data}/appendonlydir" ]; then
  keys=$(redis-cli -h "$host" -p "$port" dbsize 2>&1 || true)
  case $keys in
    '' | 0 | *[!0-9]*) ;;
    *)
      echo "The folder of this primary is empty, and $host has $keys keys: make $host the primary." >&2
      exit 1
      ;;
  esac
fi
exec redis-server "$@"
