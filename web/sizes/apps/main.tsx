import { createRoot } from "react-dom/client";
import app from "app";

createRoot(document.getElementById("root")!).render(app);
