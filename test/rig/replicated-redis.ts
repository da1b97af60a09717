import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { freePorts } from '../support/free-ports.ts'
import { openClock, type ProcessClock } from './clock.ts'
import { type Network, openNetwork } from './network.ts'
import { RedisCluster } from './redis-cluster.ts'
import { RedisGroup } from './redis-group.ts'

/** How many machines each has: one; a primary with two replicas; three masters with one replica each. */
export const TOPOLOGIES = { single: 1, sentinel: 3, cluster: 6 }
export type Topology = keyof typeof TOPOLOGIES

/** The replicated Redis of a run, and its network, where this process may have one. */
export interface ReplicatedRedis {
  readonly group: RedisGroup | RedisCluster
  /** The section `redis` of gateway.yaml. */
  readonly settings: string
  readonly machines: number
  readonly network?: Network
  /** Of the Redis of each machine; none if they cannot be set. */
  readonly clocks: readonly ProcessClock[]
  /** Ends its servers and its network. */
  stop(options?: { readonly keep: boolean }): Promise<void>
}

/**
 * Starts servers in a network of their own; on loopback if this process may not make one. `clocksIn`: a folder for clocks that can be
 * set, if they are to jump.
 */
export async function startReplicatedRedis(
  topology: Exclude<Topology, 'single'>,
  { shards, clocksIn }: { readonly shards: number; readonly clocksIn?: string },
): Promise<ReplicatedRedis> {
  const count = TOPOLOGIES[topology]
  const network = openNetwork(count)
  const ports = network ? [] : await freePorts(2 * count)
  const onLoopback = Array.from({ length: count }, (_, index) => {
    const [port, sentinelPort] = ports.slice(2 * index)
    return { host: '127.0.0.1', port, sentinelPort }
  })
  const clocks = clocksIn === undefined ? [] : await openClocks(clocksIn, count)
  const machines = (network?.machines ?? onLoopback).map((machine, index) => ({ ...machine, env: clocks[index]?.env }))
  const group = await (topology === 'sentinel'
    ? RedisGroup.start({ machines })
    : RedisCluster.start({ machines, shards }))
  return {
    group,
    settings: shards === 1 ? group.settings : group.settings.replace(/ }$/, `, shards: ${shards} }`),
    machines: count,
    network,
    clocks,
    async stop(options) {
      await group.stop(options)
      network?.close()
    },
  }
}

/** A clock for each machine; none if there is no C compiler. */
async function openClocks(dir: string, count: number): Promise<ProcessClock[]> {
  const dirs = Array.from({ length: count }, (_, index) => join(dir, `redis-clock-${index + 1}`))
  await Promise.all(dirs.map((each) => mkdir(each)))
  return dirs.flatMap((each) => openClock(each) ?? [])
}
