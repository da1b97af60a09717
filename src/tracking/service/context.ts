import type { Access } from './access.ts'
import type { ItemStore } from './items.ts'
import type { LaneStore } from './lanes.ts'
import type { NumberStore } from './numbers.ts'
import type { PositionStore } from './positions.ts'

/** What operations work with. */
export interface ServiceContext {
  /** Replaced when the provisioning changes. */
  access: Access
  readonly lanes: LaneStore
  readonly positions: PositionStore
  readonly numbers: NumberStore
  readonly items: ItemStore
  readonly timeLimitMs: number
  /** Resolves once the provisioning is what it should be by now: asked before a courier or a route counts as unknown. */
  readonly catchUp?: () => Promise<void>
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Whose courier a push is about, once it is known. */
    companyId: string
  }
}
