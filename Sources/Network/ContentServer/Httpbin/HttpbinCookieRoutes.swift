internal import Base
internal import Contents
internal import HTTPModel
internal import HTTPServer

/// Cookies: shown, set and deleted, with any attributes.
enum HttpbinCookieRoutes {
    static let routes: [HttpbinRoute] = [
        .get("/cookies") { request in
            let cookies = request.fields.all(.cookie).flatMap(CookiePair.sent)
            return json(
                200,
                [
                    "cookies": .object(
                        cookies.map {
                            JSONText.Member($0.name.text, .bytes([UInt8]($0.value)))
                        })
                ])
        },
        .get("/cookies/set") { change($0, items($0).map { (cookie($0), "; Path=/") }) },
        .get("/cookies/set/:name/:value") { request in
            let item = FormItem(name: request.match["name"], value: request.match["value"])
            return change(request, [(cookie(item), "; Path=/" + attributes(request))])
        },
        .get("/cookies/delete") {
            change(
                $0,
                items($0).map {
                    (
                        cookie(FormItem(name: $0.name, value: [])),
                        "; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Max-Age=0; Path=/"
                    )
                })
        },
    ]

    private static func items(_ request: ServerRequest) -> [FormItem] {
        request.path.query.map { FormItem.parse($0[...]) } ?? []
    }

    private static func change(
        _ request: ServerRequest, _ cookies: [(pair: String, attributes: String)]
    ) -> ServerResponse {
        var response = ServerResponse(
            302, [ResponseField("Location", "\(request.httpbinPrefix)/cookies")])
        response.fields += cookies.prefix(limit).map {
            ResponseField("Set-Cookie", $0.pair + $0.attributes)
        }
        return response
    }

    /// What could end a cookie's value is left out.
    private static func cookie(_ item: FormItem) -> String {
        "\(tamed(item.name))=\(tamed(item.value))"
    }

    private static func tamed(_ bytes: [UInt8]) -> String {
        bytes.filter { $0 > 0x20 && $0 != UInt8(ascii: ";") && $0 != 0x7F }.text
    }

    /// By `?secure`, `?httponly`, `?samesite=`, `?max-age=`, `?expires=`, `?domain=`, `?partitioned`.
    private static func attributes(_ request: ServerRequest) -> String {
        items(request).compactMap { item -> String? in
            switch item.name.text.lowercased() {
            case "secure": "; Secure"
            case "httponly": "; HttpOnly"
            case "partitioned": "; Partitioned"
            case "samesite": "; SameSite=\(tamed(item.value))"
            case "max-age": "; Max-Age=\(tamed(item.value))"
            case "domain": "; Domain=\(tamed(item.value))"
            case "expires":
                decimal(item.value).map {
                    "; Expires=\(HTTPDate(seconds: Int64(min($0, 1 << 37))).text)"
                }
            default: nil
            }
        }.joined()
    }

    /// So many at once.
    private static let limit = 50
}
