import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import { words } from '../words/index.ts'
import { Icon } from './icon.tsx'

interface DialogProps {
  readonly title: string
  readonly hint?: string
  readonly close: () => void
  /** The text of the button that closes it; default: cancel. */
  readonly closeText?: string
  /** When the form is sent, by its button or by Enter. */
  readonly submit: () => void
  readonly actions: ComponentChildren
  readonly children: ComponentChildren
}

/**
 * A form above the page, with the focus on its first field. Escape and a click beside it close it, and the focus returns to
 * its earlier place.
 */
export function Dialog({ title, hint, close, closeText, submit, actions, children }: DialogProps): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => {
    const before = document.activeElement
    dialog.current?.showModal()
    // The browser chooses the button that closes it: a blank in the first text would press that.
    dialog.current
      ?.querySelector<HTMLElement>('.dialog-body :is(input, select, button), .dialog-foot .primary')
      ?.focus()
    return () => before instanceof HTMLElement && before.focus()
  }, [])
  return (
    <dialog
      class="dialog"
      ref={dialog}
      aria-labelledby={id}
      onCancel={(event) => (event.preventDefault(), close())}
      onClick={(event) => event.target === dialog.current && close()}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault()
          submit()
        }}
      >
        <header class="dialog-head">
          <h2 id={id}>{title}</h2>
          <button type="button" class="button quiet small" onClick={close} aria-label={words.close}>
            <Icon name="close" size={14} />
          </button>
        </header>
        {hint && <p class="hint dialog-hint">{hint}</p>}
        <div class="dialog-body">{children}</div>
        <footer class="dialog-foot">
          <button type="button" class="button" onClick={close}>
            {closeText ?? words.cancel}
          </button>
          {actions}
        </footer>
      </form>
    </dialog>
  )
}

interface FieldProps {
  readonly label: string
  readonly value: string
  readonly change: (text: string) => void
  readonly type?: 'text' | 'password' | 'datetime-local'
  readonly hint?: string
  readonly placeholder?: string
  readonly required?: boolean
  readonly error?: string
  /** Values to choose from; others may be typed. */
  readonly choices?: readonly string[]
}

export function Field({ label, value, change, hint, error, choices, type = 'text', ...rest }: FieldProps): JSX.Element {
  const id = useId()
  return (
    <label class={`field ${error ? 'is-wrong' : ''}`}>
      <span>{label}</span>
      <input
        value={value}
        autocomplete="off"
        aria-invalid={error !== undefined}
        onInput={(event) => change(event.currentTarget.value)}
        {...rest}
        {...({ type, list: choices ? id : undefined } as object)}
      />
      {choices && (
        <datalist id={id}>
          {choices.map((choice) => (
            <option key={choice} value={choice} />
          ))}
        </datalist>
      )}
      {error ? <span class="field-error">{error}</span> : hint && <span class="field-hint">{hint}</span>}
    </label>
  )
}
