import type { JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import uPlot from 'uplot'
import type { LinkName } from '../../../admin/schemas/findings.ts'
import type { StatusJson } from '../../../admin/schemas/status.ts'
import { zone } from '../../data/clock.ts'
import { clockText } from '../../data/day.ts'
import { useLive } from '../../data/hooks.ts'
import { HOUR_MS, hourOf, MINUTE_MS } from '../../data/hour.ts'
import { rate } from '../../format.ts'
import { Panel } from '../../parts/basics.tsx'
import { colours, onColourScheme } from '../../parts/colours.ts'
import { words } from '../../words/index.ts'

const HEIGHT = 148

/** How many fixes a second were received and delivered in the last hour. */
export function RatesPanel(): JSX.Element {
  const { status } = useLive()
  const box = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot>(undefined)
  const latest = useRef(status)
  latest.current = status
  useEffect(() => {
    const element = box.current!
    const draw = () => {
      plot.current?.destroy()
      plot.current = new uPlot(optionsFor(element.clientWidth), dataOf(latest.current), element)
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
  useEffect(() => plot.current?.setData(dataOf(status)), [status])
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

function dataOf(status: StatusJson | undefined): uPlot.AlignedData {
  const now = Date.now()
  const until = now - (now % MINUTE_MS)
  const at = Array.from({ length: HOUR_MS / MINUTE_MS }, (_, index) => until - HOUR_MS + (index + 1) * MINUTE_MS)
  const rates = (name: LinkName) => {
    const figures = status?.links.find(({ link }) => link === name)
    const known = new Map(hourOf(figures, now).map(({ at: ms, value }) => [ms, value]))
    return at.map((ms) => known.get(ms) ?? null)
  }
  return [at.map((ms) => ms / 1000), rates('identified'), rates('accepted')]
}

function optionsFor(width: number): uPlot.Options {
  const { muted, border, accent, ok } = colours()
  const axis = {
    stroke: muted,
    font: '11px Inter, system-ui, sans-serif',
    ticks: { show: false },
    grid: { stroke: border, width: 1 },
  }
  const line = { width: 1.5, points: { show: false } }
  return {
    width,
    height: HEIGHT,
    padding: [8, 20, 0, 0],
    cursor: { show: false },
    legend: { show: false },
    scales: { y: { range: (_plot, _low, high) => [0, Math.max(1, high * 1.15)] } },
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: 24,
        values: (_plot, ticks) => ticks.map((s) => clockText(s * 1000, zone())),
      },
      { ...axis, size: 36, values: (_plot, ticks) => ticks.map((value) => rate(value)) },
    ],
    series: [{}, { ...line, stroke: accent, fill: `${accent}1a` }, { ...line, stroke: ok }],
  }
}
