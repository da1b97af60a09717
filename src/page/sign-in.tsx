import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { Mark } from './shell.tsx'
import { words } from './words/index.ts'

/** Asks for a token. @param props.refusal what the admin port said of the last one */
export function SignIn({ refusal, open }: { refusal?: string; open: (token: string) => void }): JSX.Element {
  const [text, setText] = useState('')
  const submit = (event: Event) => {
    event.preventDefault()
    if (text.trim()) open(text)
  }
  return (
    <main class="sign-in">
      <form class="sign-in-card" onSubmit={submit}>
        <Mark />
        <h1>{words.token.title}</h1>
        {refusal ? (
          <p class="sign-in-refusal" role="alert">
            {words.token.refused} {refusal}
          </p>
        ) : (
          <p class="muted">{words.token.asked}</p>
        )}
        <label class="field">
          <span>{words.token.label}</span>
          <input
            type="password"
            autocomplete="current-password"
            spellcheck={false}
            value={text}
            autofocus
            onInput={(event) => setText(event.currentTarget.value)}
          />
        </label>
        <button type="submit" class="button primary" disabled={!text.trim()}>
          {words.token.open}
        </button>
        <p class="hint">{words.token.hint}</p>
      </form>
    </main>
  )
}
