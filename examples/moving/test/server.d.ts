declare module "*/web/e2e/server.mjs" {
  export class Server {
    static start(...options: string[]): Promise<Server>;
    readonly url: string;
    kill(): Promise<void>;
  }
}
