import type { SetupJson } from '../../../admin/schemas/setups.ts'

/** What is filled into the steps of a set-up; `''`: not known yet. `user` and `password` are of the APN. */
export interface SetupValues {
  readonly host: string
  readonly port: string
  readonly apn: string
  readonly user: string
  readonly password: string
}

export interface FilledStep {
  /** What is not known is in <>. */
  readonly text: string
  /** Whether it can be sent as it is. */
  readonly isWhole: boolean
}

/** The steps of a set-up with their values. Those that set nothing but a user and a password are left out if the APN has neither. */
export function filledSteps({ steps = [] }: Pick<SetupJson, 'steps'>, values: SetupValues): FilledStep[] {
  const hasUser = values.user !== '' || values.password !== ''
  return steps
    .filter((step) => hasUser || !isUserAlone(step))
    .map((step) => {
      const text = step.replace(/\{(\w+)\}/g, (_, name: keyof SetupValues) => values[name] || absent(name))
      return { text, isWhole: !/<[^<>]+>/.test(text) }
    })
}

/** What its manual says besides, without when to leave out a user: that is done by `filledSteps`. */
export function noteBeside(note: string): string {
  return note
    .split(/(?<=[.:]) (?=[A-Z])/)
    .filter((part) => !part.startsWith('Leave out '))
    .join(' ')
}

/** What a telephone does that reads it: writes an SMS to the tracker; without its number, shows the text. */
export function smsCode(number: string, text: string): string {
  const digits = number.replaceAll(/[^\d+]/g, '')
  return digits === '' ? text : `SMSTO:${digits}:${text}`
}

function isUserAlone(step: string): boolean {
  return /\{(?:user|password)\}/.test(step) && !/\{(?:host|port|apn)\}/.test(step)
}

/** A user and a password may be empty. */
function absent(name: keyof SetupValues): string {
  return name === 'user' || name === 'password' ? '' : `<${name}>`
}
