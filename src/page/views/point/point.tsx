import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { SetupJson } from '../../../admin/schemas/setups.ts'
import { api } from '../../data/api.ts'
import { useAsked } from '../../data/hooks.ts'
import { CopyButton, FailureNote, Foreign, Loading, Panel } from '../../parts/basics.tsx'
import { Field } from '../../parts/dialog.tsx'
import { QrCode } from '../../parts/qr-code.tsx'
import { href, type PageAddress } from '../../router.ts'
import { words } from '../../words/index.ts'
import { filledSteps, noteBeside, smsCode } from './fill.ts'
import { WaitingPanel } from './waiting-panel.tsx'

/** Points a tracker at this server: shows the address, and the SMS or settings, then waits for its first position. */
export function Point({ place }: { place: PageAddress }): JSX.Element {
  const { answer, error, again } = useAsked('setups', api.setups)
  const [typed, setTyped] = useState<TypedSetup>({ ...NOTHING, id: place.query.get('id') ?? '' })
  const type = (name: keyof TypedSetup) => (text: string) => setTyped((before) => ({ ...before, [name]: text.trim() }))
  const setups = answer?.results ?? []
  const setup = setups.find(({ protocol }) => protocol === typed.tracker.split(' ')[0])
  return (
    <div class="stack">
      <header class="view-head">
        <h1>{words.point.title}</h1>
        <a class="button" href={href('arrivals')}>
          {words.nav.arrivals}
        </a>
      </header>
      {error && !answer && <FailureNote error={error} again={again} />}
      {!answer && !error && <Loading lines={6} />}
      {answer && (
        <>
          <Panel title={words.point.tracker} class="point">
            <div class="point-fields">
              <Field
                label={words.point.kind}
                value={typed.tracker}
                change={(text) => setTyped((before) => ({ ...before, tracker: text }))}
                choices={setups.map(choiceOf)}
                hint={setup ? setup.devices : words.point.kindHint}
                error={typed.tracker !== '' && !setup ? words.point.noKind : undefined}
              />
              <Field label={words.point.id} value={typed.id} change={type('id')} hint={words.point.idHint} />
              <Field label={words.point.host} value={typed.host} change={type('host')} hint={words.point.hostHint} />
              <Field
                label={words.point.port}
                value={typed.port}
                change={type('port')}
                placeholder={portOf(setup)}
                hint={setup && portsText(setup)}
              />
              {setup?.by === 'sms' && (
                <>
                  <Field label={words.point.apn} value={typed.apn} change={type('apn')} hint={words.point.apnHint} />
                  <Field
                    label={words.point.number}
                    value={typed.number}
                    change={type('number')}
                    hint={words.point.numberHint}
                  />
                  <Field label={words.point.user} value={typed.user} change={type('user')} />
                  <Field label={words.point.password} value={typed.password} change={type('password')} />
                </>
              )}
            </div>
          </Panel>
          {setup && <StepsPanel setup={setup} typed={{ ...typed, port: typed.port || portOf(setup) }} />}
          <WaitingPanel key={typed.id} id={typed.id} />
        </>
      )}
    </div>
  )
}

interface TypedSetup {
  readonly tracker: string
  readonly id: string
  readonly host: string
  readonly port: string
  readonly apn: string
  readonly user: string
  readonly password: string
  /** The telephone number of its SIM. */
  readonly number: string
}

/** The host name of this page, unless only this machine knows it. */
const ownHost = /^(?:localhost|127\..*|\[::1\])$/.test(location.hostname) ? '' : location.hostname
const NOTHING: TypedSetup = {
  tracker: '',
  id: '',
  host: ownHost,
  port: '',
  apn: '',
  user: '',
  password: '',
  number: '',
}

/** The SMS or settings, each with its QR code once all values are filled in. */
function StepsPanel({ setup, typed }: { setup: SetupJson; typed: TypedSetup }): JSX.Element {
  const { by = 'settings', manual, note: whole = '' } = setup
  const note = noteBeside(whole)
  const steps = filledSteps(setup, typed)
  return (
    <Panel title={words.point.steps[by]} hint={manual && words.point.manual(manual)}>
      {steps.length === 0 && <p class="hint">{words.point.noSteps(typed.host || '…', typed.port || '…')}</p>}
      <ol class="point-steps">
        {steps.map(({ text, isWhole }, index) => (
          <li key={index} class="point-step">
            <div class="point-text">
              <code class="mono point-code">{text}</code>
              {isWhole ? <CopyButton text={text} /> : <p class="hint">{words.point.missing}</p>}
            </div>
            {by === 'sms' && isWhole && <QrCode text={smsCode(typed.number, text)} label={words.point.qr(index + 1)} />}
          </li>
        ))}
      </ol>
      {note && (
        <p class="hint" lang="en">
          <Foreign text={note} />
        </p>
      )}
    </Panel>
  )
}

function choiceOf({ protocol, devices }: SetupJson): string {
  return `${protocol} (${devices})`
}

/** Returns the first port for it, as text. */
function portOf(setup: SetupJson | undefined): string {
  return setup?.ports[0]?.port.toString() ?? ''
}

function portsText({ ports }: SetupJson): string {
  return ports.length === 0
    ? words.point.noPort
    : ports.map(({ transport, port }) => `${transport.toUpperCase()} ${port}`).join(', ')
}
