import type { Shard, Store } from './shards.ts'

/*
 * What a device carried on the air on one local day, 16 bytes:
 *
 *   BBBB CCCC FFFF SSSS
 *
 *   B  bytes, with the headers below them      F  fixes that came with them
 *   C  connections that began                  S  since when it is counted on that day, unix seconds
 *
 * All big-endian; lua/air.lua adds two of them up.
 */

/** Data volume of a device on one local day. */
export interface AirDay {
  readonly bytes: number
  /** That began. */
  readonly connections: number
  readonly fixes: number
  /** Since when it is counted on that day, ms UTC. */
  readonly since: number
}

/** Adds to what devices of a shard carried on a local day, by when it begins (ms UTC). It is kept for three days. Rejects if Redis does not take it. */
export async function addAir(
  shard: Shard,
  day: number,
  devices: readonly (readonly [device: string, air: AirDay])[],
): Promise<void> {
  const figures = devices.flatMap(([device, air]) => [device, packed(air)])
  await shard.run('air', [shard.keyNames.air(day)], [KEPT_S, ...figures])
}

/**
 * Resolves to the data volume of a device on some local days, each by its begin, ms UTC; undefined if nothing is known. Asks
 * all shards, because volumes noted when there were fewer shards stay in their old shard.
 */
export async function readAir(redis: Store, device: string, days: readonly number[]): Promise<(AirDay | undefined)[]> {
  return Promise.all(
    days.map(async (day) => {
      const parts = await redis.inShards((shard) => shard.hgetBuffer(shard.keyNames.air(day), device))
      return parts
        .flatMap((bytes) => (bytes === null ? [] : [unpacked(bytes)]))
        .reduce<AirDay | undefined>(joined, undefined)
    }),
  )
}

/** Deletes the data volumes of devices on some days, in all shards. */
export async function forgetAir(redis: Store, devices: Iterable<string>, days: readonly number[]): Promise<void> {
  const ids = [...devices]
  await redis.inShards((shard) => Promise.all(days.map((day) => shard.hdel(shard.keyNames.air(day), ...ids))))
}

function joined(one: AirDay | undefined, other: AirDay): AirDay {
  if (!one) return other
  return {
    bytes: one.bytes + other.bytes,
    connections: one.connections + other.connections,
    fixes: one.fixes + other.fixes,
    since: Math.min(one.since, other.since),
  }
}

function packed({ bytes, connections, fixes, since }: AirDay): Buffer {
  const packing = Buffer.alloc(AIR_BYTES)
  const values = [Math.min(bytes, MOST), connections, fixes, Math.floor(since / 1000)]
  for (const [index, value] of values.entries()) packing.writeUInt32BE(value, index * 4)
  return packing
}

function unpacked(packing: Buffer): AirDay {
  const [bytes, connections, fixes, since] = [0, 4, 8, 12].map((at) => packing.readUInt32BE(at))
  return { bytes, connections, fixes, since: since * 1000 }
}

const AIR_BYTES = 16
const MOST = 0xffff_ffff
const KEPT_S = 3 * 86_400
