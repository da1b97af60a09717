import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { AlertTestsJson, ApiTestsJson } from '../../../admin/schemas/tests.ts'
import { api } from '../../data/api.ts'
import { FailureNote, Foreign, Loading } from '../../parts/basics.tsx'
import { ChangeButton } from '../../parts/change-button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Icon } from '../../parts/icon.tsx'
import { words } from '../../words/index.ts'

type CompanyTests = ApiTestsJson['results'][number]
type StepResult = CompanyTests['steps'][number]
type ReceiverTest = AlertTestsJson['results'][number]

/** Tests the tracking API for each company, and shows the steps. */
export function TestButton(): JSX.Element {
  return (
    <TestOf
      text={words.now.test}
      test={api.testApis}
      shows={(result) => <CompanyResult key={result.company_id} result={result} />}
    />
  )
}

/** Sends a test to each receiver of alerts, and shows which took it. */
export function AlertTestButton(): JSX.Element {
  return (
    <TestOf
      text={words.now.alertTest}
      test={api.testAlerts}
      shows={(result) => <ReceiverResult key={result.receiver} result={result} />}
    />
  )
}

interface TestProps<Result> {
  readonly text: Readonly<Record<'button' | 'title' | 'hint' | 'none' | 'again' | 'running', string>>
  readonly test: () => Promise<{ readonly results: readonly Result[] }>
  readonly shows: (result: Result) => JSX.Element
}

/** A button that runs a test, and a dialog with its results. */
function TestOf<Result>({ text, test, shows }: TestProps<Result>): JSX.Element {
  const [state, setState] = useState<{ results?: readonly Result[]; error?: Error }>()
  const run = () => {
    setState({})
    test().then(
      ({ results }) => setState((before) => before && { results }),
      (error: Error) => setState((before) => before && { error }),
    )
  }
  const isRunning = state && !state.results && !state.error
  return (
    <>
      <ChangeButton type="button" class="button small" onClick={run}>
        {text.button}
      </ChangeButton>
      {state && (
        <Dialog
          title={text.title}
          hint={text.hint}
          close={() => setState(undefined)}
          closeText={words.close}
          submit={() => isRunning || run()}
          actions={
            <button type="submit" class="button primary" disabled={isRunning}>
              {text.again}
            </button>
          }
        >
          {isRunning && <p role="status">{text.running}</p>}
          {isRunning && <Loading lines={4} />}
          {state.error && <FailureNote error={state.error} />}
          {state.results?.length === 0 && <p>{text.none}</p>}
          {state.results?.map(shows)}
        </Dialog>
      )}
    </>
  )
}

function ReceiverResult({ result: { receiver, format, ok, reason } }: { result: ReceiverTest }): JSX.Element {
  const { taken, notTaken } = words.now.alertTest
  const text = ok ? taken : notTaken
  return (
    <section class="api-test">
      <h3>
        <Foreign text={receiver} />
      </h3>
      <ul>
        <li class={`api-step is-${ok ? 'ok' : 'failed'}`}>
          <span class="api-step-mark" role="img" aria-label={text} title={text}>
            <Icon name={ok ? 'ok' : 'close'} size={14} />
          </span>
          <span class="api-step-name">{format}</span>
          <div>
            {text}
            {reason && <p class="api-step-action">{reason}</p>}
          </div>
        </li>
      </ul>
    </section>
  )
}

function CompanyResult({ result: { company_id, name, steps } }: { result: CompanyTests }): JSX.Element {
  return (
    <section class="api-test">
      <h3>
        <Foreign text={words.now.test.company(company_id, name)} />
      </h3>
      <ul>
        {steps.map((step, index) => (
          <StepLine key={index} step={step} />
        ))}
      </ul>
    </section>
  )
}

function StepLine({ step: { step, state, seen, action } }: { step: StepResult }): JSX.Element {
  const { test } = words.now
  return (
    <li class={`api-step is-${state}`}>
      <span class="api-step-mark" role="img" aria-label={test.state[state]} title={test.state[state]}>
        <Icon name={ICONS[state]} size={14} />
      </span>
      <span class="api-step-name">{test.step[step]}</span>
      <div>
        <Foreign text={seen} />
        {action && <p class="api-step-action">{action}</p>}
      </div>
    </li>
  )
}

const ICONS = { ok: 'ok', warning: 'warning', failed: 'close', skipped: 'idle' } as const
