import type { JSX } from 'preact'

interface SparkProps {
  /** Newest last; null: not known. Each has its time, ms UTC. */
  readonly points: readonly { readonly at: number; readonly value: number | null }[]
  /** The time that the width represents, ms UTC. */
  readonly from: number
  readonly until: number
  readonly label: string
}

const [WIDTH, HEIGHT] = [120, 28]

/** A small line of values over time; the highest value has the whole height. */
export function Spark({ points, from, until, label }: SparkProps): JSX.Element {
  const known = points.filter(
    (point): point is { at: number; value: number } => point.value !== null && point.at >= from,
  )
  const highest = Math.max(1e-9, ...known.map(({ value }) => value))
  const point = ({ at, value }: { at: number; value: number }) =>
    `${(((at - from) / (until - from)) * WIDTH).toFixed(1)} ${(HEIGHT - 2 - (value / highest) * (HEIGHT - 4)).toFixed(1)}`
  const line = known.map(point).join('L')
  const [first, last] = [known[0], known.at(-1)]
  const x = (ms: number) => (((ms - from) / (until - from)) * WIDTH).toFixed(1)
  return (
    <svg class="spark" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={label}>
      <path class="spark-base" d={`M0 ${HEIGHT - 2}H${WIDTH}`} />
      {first && last && first !== last && (
        <>
          <path class="spark-area" d={`M${x(first.at)} ${HEIGHT}L${line}L${x(last.at)} ${HEIGHT}Z`} />
          <path class="spark-line" d={`M${line}`} />
        </>
      )}
    </svg>
  )
}
