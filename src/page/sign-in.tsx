import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { api } from './data/api.ts'
import { useAsked } from './data/hooks.ts'
import { goToSignIn, signInFault } from './data/session.ts'
import { Mark } from './shell.tsx'
import { words } from './words/index.ts'

interface SignInProps {
  /** Why the page is closed: the admin port's message about the last token, or that a sign-in has ended. */
  readonly refusal?: string
  /** Opens the page: with a token, or for the person who is signed in. */
  readonly open: (token?: string) => void
}

/** Lets a person sign in, if that is configured, or asks for a token. */
export function SignIn({ refusal, open }: SignInProps): JSX.Element {
  const { answer, isLoading } = useAsked('sign-in', api.signIn, ASK_MS)
  const [byToken, setByToken] = useState(false)
  const isPerson = answer?.signed_in === true
  useEffect(() => {
    if (isPerson) open()
  }, [isPerson])
  if (isLoading || isPerson) return <main class="sign-in" />
  const isEnabled = answer?.enabled === true
  return (
    <main class="sign-in">
      <div class="sign-in-card">
        <Mark />
        <h1>{words.token.title}</h1>
        <Reason text={refusal ?? faultText()} />
        {isEnabled && <Reason text={answer.problem} />}
        {isEnabled && (
          <button type="button" class="button primary" onClick={goToSignIn}>
            {words.signIn.go}
          </button>
        )}
        {isEnabled && !byToken ? (
          <button type="button" class="button quiet small" onClick={() => setByToken(true)}>
            {words.signIn.byToken}
          </button>
        ) : (
          <TokenForm isAlone={!isEnabled && refusal === undefined} open={open} />
        )}
      </div>
    </main>
  )
}

function TokenForm({ isAlone, open }: { isAlone: boolean; open: (token: string) => void }): JSX.Element {
  const [text, setText] = useState('')
  const submit = (event: Event) => {
    event.preventDefault()
    if (text.trim()) open(text)
  }
  return (
    <form class="sign-in-form" onSubmit={submit}>
      {isAlone && <p class="muted">{words.token.asked}</p>}
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
  )
}

function Reason({ text }: { text?: string }): JSX.Element | null {
  return text === undefined ? null : (
    <p class="sign-in-refusal" role="alert">
      {text}
    </p>
  )
}

function faultText(): string | undefined {
  const texts: Readonly<Record<string, string>> = words.signIn.fault
  return signInFault !== undefined && Object.hasOwn(texts, signInFault) ? texts[signInFault] : undefined
}

/** Somebody may sign in, in another tab; a provider may answer again. */
const ASK_MS = 3000
