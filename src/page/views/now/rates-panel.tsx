import type { JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import uPlot from 'uplot'
import { trailPoints, useLive } from '../../data/hooks.ts'
import { HOUR_MS, STEP_MS } from '../../data/trail.ts'
import { rate, time } from '../../format.ts'
import { Panel } from '../../parts/basics.tsx'
import { colours, onColourScheme } from '../../parts/colours.ts'
import { words } from '../../words/index.ts'

const HEIGHT = 148

/** How many fixes a second were received and delivered in the last hour. */
export function RatesPanel(): JSX.Element {
  const { status } = useLive()
  const box = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot>(undefined)
  useEffect(() => {
    const element = box.current!
    const draw = () => {
      plot.current?.destroy()
      plot.current = new uPlot(optionsFor(element.clientWidth), dataNow(), element)
    }
    draw()
    const resizing = new ResizeObserver(() => plot.current?.setSize({ width: element.clientWidth, height: HEIGHT }))
    resizing.observe(element)
    const stop = onColourScheme(draw)
    return () => {
      resizing.disconnect()
      stop()
      plot.current?.destroy()
    }
  }, [])
  useEffect(() => plot.current?.setData(dataNow()), [status])
  const { received_per_s = 0, delivered_per_s = 0 } = status?.rates ?? {}
  return (
    <Panel
      title={words.now.rates}
      hint={words.now.perSecond}
      aside={
        <span class="legend">
          <span class="legend-item l-received">
            {words.now.received} <b class="num">{rate(received_per_s)}</b>
          </span>
          <span class="legend-item l-delivered">
            {words.now.delivered} <b class="num">{rate(delivered_per_s)}</b>
          </span>
        </span>
      }
    >
      <div
        class="plot"
        ref={box}
        role="img"
        aria-label={`${words.now.rates}: ${words.now.received}, ${words.now.delivered}`}
      />
    </Panel>
  )
}

function dataNow(): uPlot.AlignedData {
  const points = trailPoints()
  const until = Date.now()
  const at = Array.from(
    { length: HOUR_MS / STEP_MS + 1 },
    (_, index) => until - (until % STEP_MS) - HOUR_MS + index * STEP_MS,
  )
  const by = new Map(points.map((point) => [point.at, point]))
  return [
    at.map((ms) => ms / 1000),
    at.map((ms) => by.get(ms)?.received ?? null),
    at.map((ms) => by.get(ms)?.delivered ?? null),
  ]
}

function optionsFor(width: number): uPlot.Options {
  const { muted, border, accent, ok } = colours()
  const axis = {
    stroke: muted,
    font: '11px Inter, system-ui, sans-serif',
    ticks: { show: false },
    grid: { stroke: border, width: 1 },
  }
  const line = { width: 1.5, points: { show: false }, spanGaps: true }
  return {
    width,
    height: HEIGHT,
    padding: [8, 4, 0, 0],
    cursor: { show: false },
    legend: { show: false },
    scales: { y: { range: (_plot, _low, high) => [0, Math.max(1, high * 1.15)] } },
    axes: [
      { ...axis, grid: { show: false }, size: 24, values: (_plot, ticks) => ticks.map((s) => time(s * 1000)) },
      { ...axis, size: 36, values: (_plot, ticks) => ticks.map((value) => rate(value)) },
    ],
    series: [{}, { ...line, stroke: accent, fill: `${accent}1a` }, { ...line, stroke: ok }],
  }
}
