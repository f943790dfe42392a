/** The page without others: what React and the page itself take. */

import { Page } from "./page.tsx";

export default <Page people={[]} move={() => {}} />;
