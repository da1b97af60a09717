import { metrics } from './metrics.ts'

/** What a gateway says of itself beside what it observes: totals since its start, and open connections. */
export type GatewayFigures = Awaited<ReturnType<typeof gatewayFigures>>

export async function gatewayFigures() {
  const [connections, frames] = await Promise.all([metrics.connections.get(), metrics.frames.get()])
  return { connections: sumOf(connections.values), frames: sumOf(frames.values) }
}

function sumOf(values: readonly { readonly value: number }[]): number {
  return values.reduce((sum, { value }) => sum + value, 0)
}
