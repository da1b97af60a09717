import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { ApiTestsJson } from '../../../admin/schemas/api-tests.ts'
import { api } from '../../data/api.ts'
import { FailureNote, Foreign, Loading } from '../../parts/basics.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Icon } from '../../parts/icon.tsx'
import { words } from '../../words/index.ts'

type CompanyTests = ApiTestsJson['results'][number]
type StepResult = CompanyTests['steps'][number]

/** Tests the tracking API for each company, and shows the steps. */
export function TestButton(): JSX.Element {
  const [tests, setTests] = useState<{ answer?: ApiTestsJson; error?: Error }>()
  const run = () => {
    setTests({})
    api.testApis().then(
      (answer) => setTests((before) => before && { answer }),
      (error: Error) => setTests((before) => before && { error }),
    )
  }
  return (
    <>
      <button type="button" class="button small" onClick={run}>
        {words.now.test.button}
      </button>
      {tests && <TestDialog {...tests} run={run} close={() => setTests(undefined)} />}
    </>
  )
}

interface TestDialogProps {
  readonly answer?: ApiTestsJson
  readonly error?: Error
  readonly run: () => void
  readonly close: () => void
}

function TestDialog({ answer, error, run, close }: TestDialogProps): JSX.Element {
  const isRunning = !answer && !error
  return (
    <Dialog
      title={words.now.test.title}
      hint={words.now.test.hint}
      close={close}
      closeText={words.close}
      submit={() => isRunning || run()}
      actions={
        <button type="submit" class="button primary" disabled={isRunning}>
          {words.now.test.again}
        </button>
      }
    >
      {isRunning && <p role="status">{words.now.test.running}</p>}
      {isRunning && <Loading lines={4} />}
      {error && <FailureNote error={error} />}
      {answer?.results.length === 0 && <p>{words.now.test.none}</p>}
      {answer?.results.map((result) => (
        <CompanyResult key={result.company_id} result={result} />
      ))}
    </Dialog>
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
