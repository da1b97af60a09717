import type { JSX } from 'preact'
import { Icon } from './icon.tsx'

/** A field that filters while one types. */
export function SearchField({
  label,
  value,
  change,
}: {
  label: string
  value: string
  change: (text: string) => void
}): JSX.Element {
  return (
    <label class="search">
      <Icon name="search" size={14} />
      <span class="sr-only">{label}</span>
      <input
        type="search"
        placeholder={label}
        value={value}
        onInput={(event) => change(event.currentTarget.value)}
        onKeyDown={(event) => event.key === 'Escape' && change('')}
      />
    </label>
  )
}
