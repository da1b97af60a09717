import type { MetricObjectWithValues, MetricValue } from 'prom-client'

/** The metrics of one process, as `registry.getMetricsAsJSON()` has them. */
export type Metrics = MetricObjectWithValues<MetricValue<string>>[]

/** What a process listens on: `tcp/teltonika`, `mqtt`, `admin` … and the port. */
export type Ports = Record<string, number>

/** From a role's process to its supervisor. `failed`: the sentence for a mistake of the user's, in place of `ready`. */
export type FromRole =
  | { readonly type: 'ready'; readonly ports: Ports }
  | { readonly type: 'failed'; readonly message: string }
  | { readonly type: 'metrics'; readonly metrics: Metrics }
  | { readonly type: 'collect' }

/** From the supervisor to a role's process. */
export type ToRole = { readonly type: 'ask_metrics' } | { readonly type: 'collected'; readonly processes: Metrics[] }

/** The environment variable with what a role's process is told at its start, as JSON: an `Assignment`. */
export const ASSIGNMENT = 'WAYBRIDGE_ASSIGNMENT'

/**
 * What a role needs that the configuration does not say. `redisUrl`: of the private Redis, with its password. `ports`: all
 * that are in use under this `start`, the role's own from its last run among them, which it takes again.
 */
export interface Assignment {
  readonly dataDir: string
  readonly redisUrl: string | null
  readonly ports: Ports
}
