/* Metrics, some of which the path of a frame writes as plain numbers; prom-client gets them when the metrics are read. */

import { Counter, Gauge, type GaugeConfiguration, type Histogram, type LabelValues, Registry } from 'prom-client'

/** The metrics of this process. Under `start` the admin port answers with the sums over all processes. */
export const registry = new Registry()

/** A number that the path of a frame writes. Its counter or gauge reads it with the metrics. */
interface Cell {
  value: number
}

export function counter<Label extends string>(name: string, help: string, labelNames: Label[] = []) {
  const cells: { readonly labels: LabelValues<Label>; readonly cell: Cell }[] = []
  const sum = new Counter<Label>({
    ...described(name, help),
    labelNames,
    collect() {
      for (const { labels, cell } of cells) {
        this.inc(labels, cell.value)
        cell.value = 0
      }
    },
  })
  const cell = (labels: LabelValues<Label>): Cell => {
    const made = { value: 0 }
    cells.push({ labels, cell: made })
    return made
  }
  return Object.assign(sum, { cell })
}

/** A counter with one label: each of its values begins at 0, so that its first increase is seen. */
export function counterBy<Label extends string, const Value extends string>(
  name: string,
  help: string,
  label: Label,
  values: readonly Value[],
) {
  const sum = counter(name, help, [label])
  for (const value of values) sum.labels(value).inc(0)
  return {
    inc: (labels: Readonly<Record<Label, Value>>, count = 1) => sum.inc(labels, count),
    get: () => sum.get(),
  }
}

export function gauge<Label extends string>(
  name: string,
  help: string,
  options: Partial<GaugeConfiguration<Label>> = {},
) {
  return new Gauge<Label>({ ...described(name, help), ...options })
}

/** A gauge whose value the path of a frame writes as a number; it is read with the metrics. */
export function gaugeCell(name: string, help: string): Cell {
  const cell = { value: 0 }
  gauge(name, help, {
    collect() {
      this.set(cell.value)
    },
  })
  return cell
}

/**
 * A histogram with its own buckets: prom-client's search for a value's bucket costs as much as decoding a frame. The registry
 * gets this metric in place of prom-client's, and calls its `get()`.
 */
export function histogram(name: string, help: string, buckets: number[]) {
  const counts = Array<number>(buckets.length + 1).fill(0)
  const full = `waybridge_${name}`
  let sum = 0
  const get = async () => {
    let count = 0
    const values = [...buckets, '+Inf'].map((le, at) => {
      count += counts[at]
      return { metricName: `${full}_bucket`, labels: { le }, value: count }
    })
    const sums = [
      { metricName: `${full}_sum`, labels: {}, value: sum },
      { metricName: `${full}_count`, labels: {}, value: count },
    ]
    return { name: full, help, type: 'histogram', aggregator: 'sum', values: [...values, ...sums] }
  }
  registry.registerMetric({ name: full, help, labelNames: [], get } as unknown as Histogram)
  return {
    observe(value: number): void {
      let at = 0
      while (at < buckets.length && value > buckets[at]) at++
      counts[at]++
      sum += value
    },
  }
}

function described(name: string, help: string) {
  return { name: `waybridge_${name}`, help, registers: [registry] }
}
