import type { Access } from './access.ts'
import type { LaneStore } from './lanes.ts'
import type { PositionStore } from './positions.ts'

/** What operations work with. */
export interface ServiceContext {
  /** Replaced when the provisioning changes. */
  access: Access
  readonly lanes: LaneStore
  readonly positions: PositionStore
  readonly timeLimitMs: number
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Whose courier a push is about, once it is known. */
    companyId: string
  }
}
