import Testing

@testable import Contents

struct JSONObjectTests {
    private static let text = """
        {"t":"a\\n","i":-7,"e":1e3,"f":1.5,"s":"7","y":true,"n":false,"u":null,"h":"00ff","o":{"t":"in"},
        "ts":["a","b"],"os":[{"i":1},{"i":2}],"mix":["a",1,{}],"i":8}
        """

    private static func object() throws -> JSONObject {
        try #require(JSONObject([UInt8](text.utf8)))
    }

    @Test func readsMembers() throws {
        let object = try Self.object()
        #expect(object.text("t") == "a\n")
        // The last of those with one name.
        #expect(object.integer("i") == 8)
        #expect(object.integer("e") == 1000)
        #expect(object.boolean("y") == true && object.boolean("n") == false)
        #expect(object.bytes("h") == [0, 0xFF])
        #expect(object.object("o")?.text("t") == "in")
        #expect(object.texts("ts") == ["a", "b"])
        #expect(object.objects("os")?.map { $0.integer("i") } == [1, 2])
        #expect(object.has("u") && !object.has("x"))
        #expect(object.object("o")?.names == ["t"])
    }

    /// What has another type is none, and what is missing may stand for something.
    @Test func isStrictAboutTypes() throws {
        let object = try Self.object()
        #expect(object.integer("f") == nil && object.integer("s") == nil)
        #expect(object.integer("s", or: 1) == nil && object.integer("x", or: 1) == 1)
        #expect(object.boolean("i", or: true) == nil && object.boolean("x", or: true) == true)
        #expect(object.text("i") == nil && object.bytes("t") == nil && object.object("t") == nil)
        #expect(object.texts("mix") == nil && object.objects("mix") == nil)
        #expect(object.texts("t") == nil)
    }

    @Test(arguments: ["", "[]", "\"a\"", "{", "{} {}", "null"])
    func isOneObject(_ text: String) {
        #expect(JSONObject([UInt8](text.utf8)) == nil)
    }
}
