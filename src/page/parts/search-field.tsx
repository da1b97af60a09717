import type { JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { Icon } from './icon.tsx'

/** A field that filters while one types; `/` anywhere on the page leads to it. */
export function SearchField({
  label,
  value,
  change,
}: {
  label: string
  value: string
  change: (text: string) => void
}): JSX.Element {
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => {
    const focus = (event: KeyboardEvent) => {
      const isTyping = event.target instanceof HTMLElement && /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)
      if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey) return
      event.preventDefault()
      input.current?.focus()
    }
    addEventListener('keydown', focus)
    return () => removeEventListener('keydown', focus)
  }, [])
  return (
    <label class="search">
      <Icon name="search" size={14} />
      <span class="sr-only">{label}</span>
      <input
        ref={input}
        type="search"
        placeholder={label}
        value={value}
        onInput={(event) => change(event.currentTarget.value)}
        onKeyDown={(event) => event.key === 'Escape' && change('')}
      />
    </label>
  )
}
