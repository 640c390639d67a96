import Testing

@testable import Redaction

struct ContentRedactionTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let name: String
        let types: [String]
        let content: String
        let result: RedactedContent
        var isWhole = true
        var testDescription: String { name }

        init(_ name: String, _ type: String?, _ content: String, _ shown: String) {
            self.init(name, type, content, .understood([UInt8](shown.utf8)))
        }

        init(_ name: String, _ type: String?, _ content: String, _ result: RedactedContent) {
            self.init(name, types: type.map { [$0] } ?? [], content, result)
        }

        init(_ name: String, types: [String], _ content: String, _ result: RedactedContent) {
            self.name = name
            self.types = types
            self.content = content
            self.result = result
        }

        /// A row whose content was cut at its end.
        init(cut name: String, _ type: String, _ content: String, _ shown: String) {
            self.init(name, type, content, shown)
            isWhole = false
        }
    }

    private static let keyLine = String(repeating: "MHcCAQEEIJ", count: 6)
    private static let form = "application/x-www-form-urlencoded"
    private static let json = "application/json"
    private static let xml = "application/xml"
    private static let token = "eyJhbGciOiJub25lIn0.e30."

    static let forms = [
        Row("form", form, "user=nora&password=x", "user=nora&password=***"),
        Row(
            "form, charset and case", "Application/X-WWW-Form-URLEncoded; charset=utf-8",
            "password=x", "password=***"),
        Row("semicolons do not separate", form, "password=a;b&c=d", "password=***&c=d"),
        Row("value with equals signs", form, "password=a=b&c=d", "password=***&c=d"),
        Row("coded name", form, "%70ass%77ord=x", "%70ass%77ord=***"),
        Row(
            "private key of no told type", nil,
            "a\n-----BEGIN PRIVATE KEY-----\n\(keyLine)\n-----END PRIVATE KEY-----\nb",
            "a\n-----BEGIN PRIVATE KEY-----***\n-----END PRIVATE KEY-----\nb"),
        Row(
            "private key in JSON", json,
            #"{"k":"-----BEGIN EC PRIVATE KEY-----\n"# + keyLine
                + #"\n-----END EC PRIVATE KEY-----"}"#,
            #"{"k":"-----BEGIN EC PRIVATE KEY-----***\n-----END EC PRIVATE KEY-----"}"#),
        Row("German", form, "passwort=x&kennwort=y", "passwort=***&kennwort=***"),
        Row(
            "French, Spanish, Portuguese", form, "mdp=x&clave=y&senha=z",
            "mdp=***&clave=***&senha=***"),
        Row("check number of a card", form, "cvv=123&cvc2=456", "cvv=***&cvc2=***"),
        Row("capitals in a row", form, "userPWDHash2=x", "userPWDHash2=***"),
        Row("name in brackets", form, "user[password]=x", "user[password]=***"),
        Row("value without a secret's name", form, "q=\(token)&r=1", "q=***&r=1"),
        Row("URL with a secret", form, "next=https%3A%2F%2Fa%2F%3Ftoken%3Dx", "next=***"),
        Row("nested parameters", form, "a=1;password=x", "a=***"),
        Row(
            "names of arrays", form, "password[]=x&password[1]=x&a[]=y",
            "password[]=***&password[1]=***&a[]=y"),
        Row("empty value", form, "password=&a=", "password=&a="),
        Row("empty", form, "", ""),
        Row("without values", form, "a&b&&c", "a&b&&c"),
        Row("raw spaces in a value", form, "a=b c&password=x y", "a=b c&password=***"),
        Row("line end", form, "password=x\r\n", "password=***\r\n"),
        Row("JSON that is called a form", form, #"{"password":"x"}"#, #"{"password":"***"}"#),
        Row("broken JSON called a form", form, #"{"password":"x""#, .malformed(claimed: "JSON")),
        Row("text called a form", form, "password: x", .malformed(claimed: "form")),
        Row("lines called a form", form, "a=b\r\npassword: x", .malformed(claimed: "form")),
        Row("XML called a form", form, #"<a b="c"/>"#, .malformed(claimed: "form")),
        Row(cut: "cut form", form, "password=abc&user=no", "password=***&user=***"),
    ]

    static let objects = [
        Row(
            "JSON", json, #"{"user": "nora", "password": "x"}"#,
            #"{"user": "nora", "password": "***"}"#),
        Row("suffix", "application/problem+json", #"{"token":"x"}"#, #"{"token":"***"}"#),
        Row(
            "other JSON types", "application/x-amz-json-1.1", #"{"Token":"x"}"#,
            #"{"Token":"***"}"#),
        Row(
            "numbers, not constants", json,
            #"{"pin": 1234, "otp":-1.5e3,"token":null,"pass":true}"#,
            #"{"pin": "***", "otp":"***","token":null,"pass":true}"#),
        Row(
            "nesting", json, #"[{"a":{"b":[{"apiKey":"x"}]}}]"#,
            #"[{"a":{"b":[{"apiKey":"***"}]}}]"#),
        Row(
            "all below a secret name", json,
            #"{"credentials":{"a":["x",{"b":2}],"c":"y"},"d":"z"}"#,
            #"{"credentials":{"a":["***",{"b":"***"}],"c":"***"},"d":"z"}"#),
        Row(
            "array below a secret name", json, #"{"tokens":["x","y",3],"d":[1]}"#,
            #"{"tokens":["***","***","***"],"d":[1]}"#),
        Row("escaped name", json, #"{"pass\u0077ord":"x"}"#, #"{"pass\u0077ord":"***"}"#),
        Row(
            "escapes in a value", json, #"{"password":"a\"b\\","c":"d"}"#,
            #"{"password":"***","c":"d"}"#),
        Row("token under any name", json, "{\"a\":\"\(token)\"}", #"{"a":"***"}"#),
        Row(
            "URL", json, #"{"next":"https:\/\/a\/?page=2&token=x"}"#,
            #"{"next":"https://a/?page=2&token=***"}"#),
        Row(
            "harmless URL", json, #"{"next":"https:\/\/a\/?page=2"}"#,
            #"{"next":"https:\/\/a\/?page=2"}"#),
        Row("form in a string", json, #"{"body":"user=a&password=x"}"#, #"{"body":"***"}"#),
        Row(
            "JSON in a string", json, #"{"body":"{\"password\":\"x\",\"a\":1}"}"#,
            #"{"body":"{\"password\":\"***\",\"a\":1}"}"#),
        Row(
            "mail address and prose", json, #"{"a":"nora@example.com","b":"x = y & z"}"#,
            #"{"a":"nora@example.com","b":"x = y & z"}"#),
        Row(
            "lines", "application/x-ndjson", "{\"token\":\"x\"}\n{\"token\":\"y\"}\n",
            "{\"token\":\"***\"}\n{\"token\":\"***\"}\n"),
        Row(
            "text sequence", "application/json-seq", "\u{1E}{\"token\":\"x\"}\n",
            "\u{1E}{\"token\":\"***\"}\n"),
        Row("byte order mark", json, "\u{FEFF}{\"token\":1}", "\u{FEFF}{\"token\":\"***\"}"),
        Row("guarded answer", json, ")]}',\n{\"token\":1}", ")]}',\n{\"token\":\"***\"}"),
        Row("only a value", json, " 42 ", " 42 "),
        Row(
            "a name and its value", json,
            #"[{"name":"password","value":"x"},{"Name":"q","Value":"y"},{"value":"z"}]"#,
            #"[{"name":"password","value":"***"},{"Name":"q","Value":"y"},{"value":"z"}]"#),
        Row(
            "a name and what its value holds", json,
            #"{"name":"api-token","v":1,"value":{"stringValue":"x","list":[2]},"a":"b"}"#,
            #"{"name":"api-token","v":1,"value":{"stringValue":"***","list":["***"]},"a":"b"}"#),
        Row("empty objects", json, "[{},[],[{}]]", "[{},[],[{}]]"),
    ]

    static let notObjects = [
        "", " ", #"{"a":1"#, #"{"a" 1}"#, #"{"a":1,}"#, "[1,]", "[1}", #"{"a":1]"#, "{1:2}",
        "{'password':'x'}", "password: x", #"{"a":"b"#, "{\"a\":\"\n\"}", #"{"a":"\x"}"#,
        #"{"a":"\u12"}"#, "nul", "[1 2]", "]", "}", ",", #"{"a":1} password"#,
    ].map { Row("no JSON: \($0)", json, $0, .malformed(claimed: "JSON")) }

    static let cutObjects = [
        Row(cut: "in a secret", json, #"{"password":"ab"#, #"{"password":"***""#),
        Row(cut: "in a string", json, #"{"a":"eyJ"#, #"{"a":"***""#),
        Row(cut: "in a name", json, #"{"a":1,"passw"#, #"{"a":1,"passw"#),
        Row(cut: "in a number", json, #"{"a":1,"pin":12"#, #"{"a":1,"pin":"***""#),
        Row(cut: "in a word", json, #"{"a":tr"#, #"{"a":tr"#),
        Row(cut: "in an escape", json, #"{"a":"b\"#, #"{"a":"***""#),
        Row(cut: "before a value", json, #"{"password":"#, #"{"password":"#),
    ]

    static let others = [
        Row("text", "text/plain", "user: a\npassword: x y\n", "user: a\npassword: ***\n"),
        Row("text without a secret", "text/plain", "user: a\nnote: b\n", .opaque),
        Row("bytes called text", "text/plain", "password: x\u{0}y", .opaque),
        Row(
            "GraphQL", "application/graphql",
            #"mutation { login(user: "a", password: "x \"y", pass: """z""") { id } }"#,
            #"mutation { login(user: "a", password: "***", pass: """***""") { id } }"#),
        Row(
            "GraphQL in JSON", json,
            #"{"query":"mutation($t: String!) { login(password: \"x y\", token: $t) { id } }"}"#,
            #"{"query":"mutation($t: String!) { login(password: \"***\", token: $t) { id } }"}"#),
        Row(
            "XML", "application/xml",
            "<a><User>u</User><Password>x</Password><b key='c'/>"
                + "<w:Password Type=\"t\"><![CDATA[x>y]]></w:Password></a>",
            "<a><User>u</User><Password>***</Password><b key='***'/>"
                + "<w:Password Type=\"t\"><![CDATA[***]]></w:Password></a>"),
        Row(
            "SOAP", "application/soap+xml; charset=utf-8",
            "<!-- <x> --><Token> </Token><Secret/>text<token>cut",
            "<!-- <x> --><Token> </Token><Secret/>text<token>***"),
        Row("no type, XML", nil, "<?xml?><token>x</token>", "<?xml?><token>***</token>"),
        Row("XML without a secret", "text/xml", "<a b=\"c\">d</a>", .opaque),
        Row(
            "HTML, a field by its name", "text/html", "<input name=password value=x>",
            "<input name=password value=***>"),
        Row(
            "HTML, a field by its type", "text/html",
            "<input type=\"PASSWORD\" value=\"x\" name=p>",
            "<input type=\"PASSWORD\" value=\"***\" name=p>"),
        Row(
            "HTML, a link", "text/html", "<a href=\"https://a.test/?b=1&amp;token=x\">c</a>",
            "<a href=\"https://a.test/?b=1&token=***\">c</a>"),
        Row(
            "HTML, a script", "text/html", "<script>a = {\"token\":\"x\"};\n</script>",
            "<script>a = {\"token\":\"***\"};\n</script>"),
        Row(
            "HTML, prose", "text/html", "<p>password: at least 8</p><input name=q value=x>",
            .opaque),
        Row(
            "event stream", "text/event-stream", "data: {\"token\":\"x\"}\n\n",
            "data: {\"token\":\"***\"}\n\n"),
        Row(
            "JSON in Base64", "application/json", #"{"a":"eyJwYXNzd29yZCI6IngifQ=="}"#,
            #"{"a":"***"}"#),
        Row(
            "JSON in Base64 without a secret", "application/json", #"{"a":"eyJhIjoxfQ=="}"#,
            #"{"a":"eyJhIjoxfQ=="}"#),
        Row("no type, text", nil, "hello, world", .opaque),
        Row("no type, JSON", nil, #" {"token":"x"}"#, #" {"token":"***"}"#),
        Row("beacon", "text/plain;charset=UTF-8", #"{"token":"x"}"#, #"{"token":"***"}"#),
        Row(
            "script that is JSON", "text/javascript", #"["a",{"token":1}]"#,
            #"["a",{"token":"***"}]"#),
        Row("no JSON after all", "text/plain", "[x] password", .opaque),
        Row("no type, form", nil, "user=nora&password=x", "user=nora&password=***"),
        Row("picture", "image/png", "a=b&password=c", .opaque),
        Row(
            "two types", types: ["text/plain", "application/json"], "password",
            .malformed(
                claimed: "JSON")),
    ]

    /// What else may stand around a secret in XML.
    static let elements = [
        Row("a comment", xml, "<pin/><password><!-- y -->x", "<pin/><password><!--***-->***"),
        Row(
            "a section and an instruction", xml, "<password>x<![CDATA[y]]><?z w?>v</password>w",
            "<password>***<![CDATA[***]]><?***?>***</password>w"),
        Row(
            "a tag in a comment", xml, "<password><!-- </password> -->x</password>y",
            "<password><!--***-->***</password>y"),
        Row(
            "an element", xml, "<a:password><value>x</value>y</a:password><b>z</b>",
            "<a:password><value>***</value>***</a:password><b>z</b>"),
        Row(
            "an element of the same name", xml,
            "<token><token>x</token>y</token><b>z</b>",
            "<token><token>***</token>***</token><b>z</b>"),
        Row(
            "empty elements", xml, "<token><token/><br/>x</token>z",
            "<token><token/><br/>***</token>z"),
        Row(
            "ends of others", xml, "<token></a></b><c>x</token>z",
            "<token></a></b><c>***</token>z"),
        Row(
            "attributes", xml, "<token a='x' type='t' xmlns:b='u'><c d='x' type='t' xmlns='u'/>",
            "<token a='x' type='t' xmlns:b='u'><c d='***' type='t' xmlns='u'/>"),
        Row("an attribute", xml, "<password value='x'/>z", "<password value='***'/>z"),
        Row(
            "XML-RPC", xml,
            "<member><name> password </name> <value><string>x</string></value></member>"
                + "<member><name>q</name><value>z</value></member>",
            "<member><name> password </name> <value><string>***</string></value></member>"
                + "<member><name>q</name><value>z</value></member>"),
        Row(
            "a property list", xml,
            "<dict><key>password</key><string>x</string><key>a</key><array>z</array></dict>",
            "<dict><key>***</key><string>***</string><key>***</key><array>z</array></dict>"),
        Row(
            "a name as an attribute", xml,
            "<add key='a' value='z'/><p Name=\"db.password\" value='x'/><p name='token'>x</p>z",
            "<add key='***' value='z'/><p Name=\"db.password\" value='***'/>"
                + "<p name='token'>***</p>z"),
        Row(
            "a name without a neighbour", xml, "<m><name>token</name></m><v>z</v>", .opaque),
        Row(
            "attributes without quotes", xml, "<a pin=x b=y token = x/>",
            "<a pin=*** b=y token = ***>"),
        Row("an attribute that was cut", xml, "<a pin=\"x", "<a pin=\"***"),
        Row(
            "a quote that opens nothing", xml, "<password \" >x</password>",
            "<password \" >***</password>"),
        Row("a comment of nothing", xml, "<!--><pin>x</pin>", "<!--><pin>***</pin>"),
    ]

    @Test(arguments: forms + objects + notObjects + cutObjects + others + elements)
    func findsSecretsByName(_ row: Row) {
        let result = ContentRedaction.redact(
            [UInt8](row.content.utf8), types: row.types.map { [UInt8]($0.utf8)[...] },
            isWhole: row.isWhole)
        #expect(text(result) == text(row.result))
    }

    /// Whatever a content was cut to, nothing of its secrets is shown.
    @Test(arguments: forms + objects)
    func hidesSecretsWhereverItIsCut(_ row: Row) {
        guard case .understood(let shown) = row.result else { return }
        let content = [UInt8](row.content.utf8)
        for end in content.indices {
            let cut = ContentRedaction.redact(
                Array(content[..<end]), types: row.types.map { [UInt8]($0.utf8)[...] },
                isWhole: false)
            guard case .understood(let cutShown) = cut, shown != content else { continue }
            let text = String(decoding: cutShown, as: UTF8.self)
            #expect(!text.contains("\"x") && !text.contains("=x"), "cut at \(end)")
        }
    }

    @Test func looksIntoContentsInsideOfOneAnother() {
        var content = #"{"password":"x"}"#
        for _ in 0..<6 {
            let escaped = content.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
            content = "{\"a\":\"\(escaped)\"}"
        }
        let shown = JSONRedaction.redact([UInt8](content.utf8), isWhole: true) ?? []
        #expect(!String(decoding: shown, as: UTF8.self).contains("password"))
    }

    @Test func takesAnyNesting() {
        let depth = 200_000
        let content =
            [UInt8](repeating: UInt8(ascii: "["), count: depth)
            + [UInt8](repeating: UInt8(ascii: "]"), count: depth)
        #expect(JSONRedaction.redact(content, isWhole: true) == content)
    }

    private func text(_ result: RedactedContent) -> String {
        switch result {
        case .understood(let shown): String(decoding: shown, as: UTF8.self)
        case .opaque: "(opaque)"
        case .malformed(let claimed): "(no \(claimed))"
        }
    }
}
