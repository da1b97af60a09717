import { metrics } from './metrics.ts'

/** What a gateway says of itself beside what it observes: totals since its start, and open connections. */
export type GatewayFigures = Awaited<ReturnType<typeof gatewayFigures>>

/**
 * The figures of a gateway. `lastFixAt`: when a fix was last acknowledged, ms UTC, within the second between two calls;
 * undefined: none since the start.
 */
export async function gatewayFigures() {
  const [connections, frames, received] = await Promise.all([
    metrics.connections.get(),
    metrics.frames.get(),
    metrics.received.get(),
  ])
  const fixes = sumOf(received.values)
  if (fixes > last.fixes) last = { fixes, at: Date.now() }
  return { connections: sumOf(connections.values), frames: sumOf(frames.values), lastFixAt: last.at }
}

let last: { readonly fixes: number; readonly at?: number } = { fixes: 0 }

function sumOf(values: readonly { readonly value: number }[]): number {
  return values.reduce((sum, { value }) => sum + value, 0)
}
