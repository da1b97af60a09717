import type { SetupJson } from '../../../admin/schemas/setups.ts'

/** Values for the steps of a set-up; `''`: not known yet. `user` and `password` are those of the APN. */
export interface SetupValues {
  readonly host: string
  readonly port: string
  readonly apn: string
  readonly user: string
  readonly password: string
}

export interface FilledStep {
  /** Unknown values are in <>. */
  readonly text: string
  /** Whether it can be sent unchanged. */
  readonly isWhole: boolean
}

/**
 * Returns the steps of a set-up with their values. Leaves out steps that only set a user and a password if the APN has
 * neither.
 */
export function filledSteps({ steps = [] }: Pick<SetupJson, 'steps'>, values: SetupValues): FilledStep[] {
  const hasUser = values.user !== '' || values.password !== ''
  return steps
    .filter((step) => hasUser || !isUserAlone(step))
    .map((step) => {
      const text = step.replace(/\{(\w+)\}/g, (_, name: keyof SetupValues) => values[name] || absent(name))
      return { text, isWhole: !/<[^<>]+>/.test(text) }
    })
}

/** Returns further notes of its manual, without those on leaving out a user, which `filledSteps` does. */
export function noteBeside(note: string): string {
  return note
    .split(/(?<=[.:]) (?=[A-Z])/)
    .filter((part) => !part.startsWith('Leave out '))
    .join(' ')
}

/**
 * Returns the content of a QR code that makes a telephone write an SMS to the tracker; without its number, one that shows the
 * text.
 */
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
