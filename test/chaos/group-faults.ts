import { inTurns } from '../../src/async.ts'
import type { RedisGroup } from '../support/redis-group.ts'
import type { Network } from './network.ts'
import type { Fault } from './plan.ts'

/** The replicated Redis of a run, and its network, where this process may have one. */
export interface GroupSite {
  readonly group: RedisGroup
  readonly network?: Network
}

/**
 * Does the faults of a replicated Redis one after the other, each once all replicas are in step and the product has `recovered`.
 */
export function groupFaults({ group, network }: GroupSite, recovered: () => Promise<void>) {
  const inTurn = inTurns()
  const others = async (pick: number) => {
    const primary = await group.primary()
    return (primary + 1 + (pick % 2)) % MACHINES
  }
  const net = (): Network => {
    if (!network) throw new Error('this process may not make a network')
    return network
  }
  const deeds: Readonly<Record<string, (pick: number) => Promise<() => unknown>>> = {
    async 'destroy-primary'() {
      const primary = await group.primary()
      await group.destroy(primary)
      return () => group.revive(primary)
    },
    async 'isolate-primary'() {
      net().isolate(await group.primary())
      return () => net().heal()
    },
    async 'isolate-replica'(pick) {
      net().isolate(await others(pick))
      return () => net().heal()
    },
    async 'split-primary'() {
      net().splitOff(await group.primary())
      return () => net().heal()
    },
    async 'depose-primary'() {
      await group.failOver()
      return () => {}
    },
    async 'freeze-replica'(pick) {
      const replica = await others(pick)
      group.signal(replica, 'SIGSTOP')
      return () => group.signal(replica, 'SIGCONT')
    },
  }
  return {
    has: (kind: string) => kind in deeds,
    /**
     * `suffer` passes the time between the deed and its undoing. Answers how long after that the replicas were out of step, and
     * until `recovered`.
     */
    commit: ({ kind, pick }: Pick<Fault, 'kind' | 'pick'>, suffer: () => Promise<void>) =>
      inTurn(async () => {
        await group.inStep(IN_STEP_MS)
        const undo = await deeds[kind](pick)
        await suffer()
        await undo()
        const undoneAt = performance.now()
        await group.inStep(IN_STEP_MS)
        const inStepMs = performance.now() - undoneAt
        await recovered()
        return { inStepMs, recoveredMs: performance.now() - undoneAt }
      }),
    heal() {
      network?.heal()
      for (let index = 0; index < MACHINES; index++) group.signal(index, 'SIGCONT')
    },
  }
}

export const MACHINES = 3
const IN_STEP_MS = 60_000
