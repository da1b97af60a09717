import type { JSX } from 'preact'
import type { LastSaidJson } from '../../../admin/schemas/devices.ts'
import { useNow } from '../../data/hooks.ts'
import { age, fullTime, percent, volts } from '../../format.ts'
import { Foreign, Panel, When } from '../../parts/basics.tsx'
import { Fact } from '../../parts/fact.tsx'
import { words } from '../../words/index.ts'

/** What the tracker says beside its positions: states with since when, measured values with their age, alarms. */
export function SaidPanel({ said }: { said: LastSaidJson }): JSX.Element {
  const now = useNow()
  const { alarms = [], driver } = said
  return (
    <Panel title={words.van.says} class="said-panel">
      <dl class="facts">
        {STATES.map((name) => {
          const state = said[name]
          return (
            state && (
              <Fact key={name} name={words.van.said[name]} title={fullTime(state.since_at)}>
                {words.van.saidState[name][state.value ? 'yes' : 'no']}
                <Since at={state.since_at} />
              </Fact>
            )
          )
        })}
        {MEASURED.map((name) => {
          const measured = said[name]
          return (
            measured && (
              <Fact key={name} name={words.van.said[name]} title={fullTime(measured.since_at)}>
                <span class="num">{name === 'battery_percent' ? percent(measured.value) : volts(measured.value)}</span>
                <span class="muted num"> · {age(measured.since_at, now)}</span>
              </Fact>
            )
          )
        })}
        {driver && (
          <Fact name={words.van.said.driver} title={fullTime(driver.since_at)}>
            <Foreign text={driver.value} mono />
            <Since at={driver.since_at} />
          </Fact>
        )}
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

const STATES = ['ignition', 'moving', 'charging'] as const
const MEASURED = ['external_voltage', 'battery_voltage', 'battery_percent'] as const
/** For as long findings about alarms last. */
const RECENT_MS = 86_400_000
