import { say, type Text } from '../../texts/text.ts'

/** One step of the test of an API: the result, and what to change if it is not right. It contains no secret. */
export interface TestStep {
  readonly step: 'dns' | 'connection' | 'tls' | 'apikey' | 'oauth_token' | 'read' | 'push' | 'read_back'
  /** `warning`: it works, but not well, or not for long. `skipped`: it could not be tested, or there is nothing to test. */
  readonly state: 'ok' | 'warning' | 'failed' | 'skipped'
  readonly seen: Text
  readonly action?: Text
}

type StepName = TestStep['step']

export function ok(step: StepName, seen: Text): TestStep {
  return { step, state: 'ok', seen }
}

export function warning(step: StepName, seen: Text, action: Text): TestStep {
  return { step, state: 'warning', seen, action }
}

export function failed(step: StepName, seen: Text, action: Text): TestStep {
  return { step, state: 'failed', seen, action }
}

export function skipped(step: StepName, seen: Text = say('not tested, since a step before failed')): TestStep {
  return { step, state: 'skipped', seen }
}
