import { testCanonicalEmail } from './normalize.ts'

testCanonicalEmail(400)
