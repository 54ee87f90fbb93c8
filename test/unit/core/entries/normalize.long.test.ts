import { testCanonicalEmail } from './normalize.ts'

testCanonicalEmail(2000)
