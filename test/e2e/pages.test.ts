import { pagesTests } from './pages.ts'

pagesTests()
