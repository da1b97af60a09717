import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Icon } from './icon.tsx'

interface Said {
  readonly id: number
  readonly text: string
  readonly kind: 'done' | 'failed'
}

let show: (said: Said) => void = () => {}
let next = 0

/** Shows the result of an action in the corner for some seconds; a screen reader reads it. */
export function toast(text: string, kind: Said['kind'] = 'done'): void {
  show({ id: next++, text, kind })
}

export function Toasts(): JSX.Element {
  const [all, setAll] = useState<readonly Said[]>([])
  useEffect(() => {
    show = (said) => {
      setAll((before) => [...before.slice(-2), said])
      setTimeout(
        () => setAll((before) => before.filter(({ id }) => id !== said.id)),
        said.kind === 'done' ? 5000 : 10_000,
      )
    }
  }, [])
  return (
    <div class="toasts" role="status" aria-live="polite">
      {all.map(({ id, text, kind }) => (
        <div key={id} class={`toast ${kind}`}>
          <Icon name={kind === 'done' ? 'ok' : 'warning'} />
          {text}
        </div>
      ))}
    </div>
  )
}
