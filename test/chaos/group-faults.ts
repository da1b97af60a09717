import { inTurns } from '../../src/async.ts'
import type { Network } from '../rig/network.ts'
import { RedisCluster } from '../rig/redis-cluster.ts'
import type { ReplicatedRedis } from '../rig/replicated-redis.ts'
import type { Fault } from './plan.ts'

/**
 * Injects the faults of a replicated Redis one after the other, each once all replicas are in step and the product has `recovered`.
 */
export function groupFaults(
  { group, machines, network, clocks }: ReplicatedRedis,
  recovered: (since: number) => Promise<number>,
) {
  const inTurn = inTurns()
  const net = (): Network => {
    if (!network) throw new Error('this process may not make a network')
    return network
  }
  const injections: Readonly<Record<string, (pick: number) => Promise<() => unknown>>> = {
    async 'destroy-primary'() {
      const primary = await group.primary()
      await group.destroy(primary)
      return () => group.revive(primary)
    },
    async 'isolate-primary'() {
      net().isolate(await group.primary())
      return () => net().restore()
    },
    async 'isolate-replica'(pick) {
      net().isolate(await group.replica(pick))
      return () => net().restore()
    },
    async 'split-primary'() {
      net().splitOff(await group.primary())
      return () => net().restore()
    },
    async 'depose-primary'() {
      await group.failOver()
      return () => {}
    },
    async 'move-slot'(pick) {
      if (!(group instanceof RedisCluster)) throw new Error('there are no slots')
      await group.moveSlot(pick)
      return () => {}
    },
    async 'skew-primary'(pick) {
      const clock = clocks[await group.primary()]
      // A node of a Cluster whose clock goes back asks the others nothing until the time is that of their last answers: with one that
      // was ahead for a moment, no failure is agreed on for an hour.
      const isAhead = pick % 2 === 0 && !(group instanceof RedisCluster)
      clock.setAhead(isAhead ? HOUR_MS : -HOUR_MS)
      return () => clock.setAhead(0)
    },
    async 'freeze-replica'(pick) {
      const replica = await group.replica(pick)
      group.signal(replica, 'SIGSTOP')
      return () => group.signal(replica, 'SIGCONT')
    },
  }
  return {
    has: (kind: string) => kind in injections,
    /**
     * `untilOver` waits until the fault is to be undone. Returns how long after that the replicas were out of step, until
     * something was acknowledged again, and until everything was: `recovered` answers when the first was, ms UTC.
     */
    inject: ({ kind, pick }: Pick<Fault, 'kind' | 'pick'>, untilOver: () => Promise<void>) =>
      inTurn(async () => {
        await group.inStep(IN_STEP_MS)
        if (group instanceof RedisCluster) group.aim(pick)
        const undo = await injections[kind](pick)
        await untilOver()
        await undo()
        const undoneAt = Date.now()
        await group.inStep(IN_STEP_MS)
        const inStepMs = Date.now() - undoneAt
        const firstMs = (await recovered(undoneAt)) - undoneAt
        return { inStepMs, firstMs, recoveredMs: Date.now() - undoneAt }
      }),
    undoAll() {
      network?.restore()
      for (const clock of clocks) clock.setAhead(0)
      for (let index = 0; index < machines; index++) group.signal(index, 'SIGCONT')
    },
  }
}

const IN_STEP_MS = 60_000
const HOUR_MS = 3_600_000
