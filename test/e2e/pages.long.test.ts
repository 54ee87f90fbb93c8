import { pagesLongTests, pagesTests } from './pages.ts'

// The first of them signs in.
pagesTests()
pagesLongTests()
