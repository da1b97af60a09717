import type { JSX } from 'preact'
import type { LastSaidJson } from '../../../admin/schemas/devices.ts'
import { useNow } from '../../data/hooks.ts'
import { age, fullTime, percent, volts } from '../../format.ts'
import { Foreign, Panel, When } from '../../parts/basics.tsx'
import { Fact } from '../../parts/fact.tsx'
import { words } from '../../words/index.ts'

/** Values that the tracker sends beside its positions: states with their begin, measured values with their age, alarms. */
export function SaidPanel({ said }: { said: LastSaidJson }): JSX.Element {
  const now = useNow()
  const { alarms = [] } = said
  return (
    <Panel title={words.van.says} class="said-panel">
      <dl class="facts">
        {SHOWN.map((name) => {
          const { value, since_at: at } = said[name] ?? {}
          return (
            value !== undefined &&
            at !== undefined && (
              <Fact key={name} name={words.van.said[name]} title={fullTime(at)}>
                {textOf(name, value)}
                {typeof value === 'number' ? <span class="muted num"> · {age(at, now)}</span> : <Since at={at} />}
              </Fact>
            )
          )
        })}
        {alarms.map(({ alarm, at }) => (
          <Fact
            key={alarm}
            name={words.van.alarm(words.van.alarms[alarm] ?? alarm)}
            tone={now - Date.parse(at) < RECENT_MS ? 'warning' : 'zero'}
          >
            <When at={at} />
          </Fact>
        ))}
      </dl>
    </Panel>
  )
}

function Since({ at }: { at: string }): JSX.Element {
  return (
    <span class="muted">
      {' '}
      · {words.van.since} <When at={at} />
    </span>
  )
}

type Shown = (typeof SHOWN)[number]

function textOf(name: Shown, value: boolean | number | string): JSX.Element {
  if (typeof value === 'string') return <Foreign text={value} mono />
  if (typeof value === 'number')
    return <span class="num">{name === 'battery_percent' ? percent(value) : volts(value)}</span>
  return <>{words.van.saidState[name]?.[value ? 'yes' : 'no']}</>
}

const SHOWN = [
  ...(['ignition', 'moving', 'external_voltage', 'battery_percent', 'battery_voltage'] as const),
  ...(['charging', 'driver'] as const),
]
/** For as long findings about alarms last. */
const RECENT_MS = 86_400_000
