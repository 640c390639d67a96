internal import Base
internal import HTTPModel
internal import HTTPServer

/// What the network of a hotel does: another page in place of what was asked for, until a form is
/// submitted.
enum PortalRoutes {
    static let routes: [Route] = [
        .get("/portal/login") { page(200, $0) },
        Route([.post], "/portal/login") { request, _ in
            var response = ServerResponse(303, [ResponseField("Location", target(request))])
            response.fields.append(
                ResponseField("Set-Cookie", "portal=open; Path=/portal; HttpOnly; SameSite=Lax"))
            return response
        },
        // As a network that intercepts names and addresses does it, and as one that rewrites pages.
        .get("/portal/302/*") { request in
            guard !isOpen(request) else { return through(request) }
            let target = PercentCoding.encoded(path(request)).text
            return ServerResponse(
                302,
                [
                    ResponseField("Location", "/portal/login?to=\(target)"),
                    ResponseField("Cache-Control", "no-store"),
                ])
        },
        .get("/portal/200/*") { isOpen($0) ? through($0) : page(200, $0) },
    ]

    private static func isOpen(_ request: ServerRequest) -> Bool {
        request.fields.all(.cookie).contains { line in
            line.split(separator: UInt8(ascii: ";")).contains {
                $0.trimmingWhitespace.elementsEqual("portal=open".utf8)
            }
        }
    }

    private static func through(_ request: ServerRequest) -> ServerResponse {
        ServerResponse(307, [ResponseField("Location", location(path(request)))])
    }

    /// What stands behind the portal's own segments, as it came.
    private static func path(_ request: ServerRequest) -> [UInt8] {
        [UInt8](request.path.target.dropFirst("/portal/302".utf8.count))
    }

    private static func target(_ request: ServerRequest) -> String {
        location(request.path.queryValue("to") ?? [0x2F])
    }

    /// A path on this server, whatever a link says: two slashes would lead to another host.
    private static func location(_ path: [UInt8]) -> String {
        let rest = path.drop { $0 == 0x2F || $0 == 0x5C }
        return "/" + PercentCoding.encoded(rest) { $0 > 0x20 && $0 < 0x7F }.text
    }

    private static func page(_ status: Int, _ request: ServerRequest) -> ServerResponse {
        let target = PercentCoding.encoded(request.path.queryValue("to") ?? path(request)).text
        var response = ServerResponse(
            status, type: FileType.html,
            """
            <!doctype html>
            <html lang="en">
            <meta charset="utf-8">
            <title>Welcome to the network</title>
            <form method="post" action="/portal/login?to=\(target)">
            <p><label><input type="checkbox" name="terms" required> I accept the terms</label>
            <p><button>Connect</button>
            </form>
            </html>

            """)
        response.fields.append(ResponseField("Cache-Control", "no-store"))
        return response
    }
}
