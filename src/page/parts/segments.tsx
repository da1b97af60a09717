import type { JSX } from 'preact'

interface SegmentsProps<Value extends string> {
  readonly label: string
  readonly value: Value
  readonly choices: readonly { readonly value: Value; readonly text: string }[]
  readonly choose: (value: Value) => void
}

/** A choice of a few, side by side. */
export function Segments<Value extends string>({ label, value, choices, choose }: SegmentsProps<Value>): JSX.Element {
  return (
    <div class="segments" role="group" aria-label={label}>
      {choices.map((choice) => (
        <button
          key={choice.value}
          type="button"
          class={`segment s-${choice.value}`}
          aria-pressed={choice.value === value}
          onClick={() => choose(choice.value)}
        >
          {choice.text}
        </button>
      ))}
    </div>
  )
}
