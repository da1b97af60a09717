import type { JSX } from 'preact'
import { useMayNot } from '../data/may-change.ts'

/** A button that changes something: disabled, with the reason, for a token that may only read. */
export function ChangeButton({ disabled, title, ...rest }: JSX.IntrinsicElements['button']): JSX.Element {
  const mayNot = useMayNot()
  return <button {...rest} disabled={Boolean(disabled) || mayNot !== undefined} title={mayNot ?? title} />
}
