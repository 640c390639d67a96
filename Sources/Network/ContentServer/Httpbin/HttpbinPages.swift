internal import Base
internal import HTTPServer

/// Pages that are always the same.
enum HttpbinPages {
    static let routes: [HttpbinRoute] = [
        page("/html", FileType.html, html), page("/xml", "application/xml", xml),
        page("/json", FileType.json, slides.document.text),
        page("/robots.txt", "text/plain", "User-agent: *\nDisallow: /deny\n"),
        page("/deny", "text/plain", "YOU SHOULD NOT BE HERE\n"),
        page("/encoding/utf8", FileType.html, utf8), page("/forms/post", FileType.html, form),
    ]

    private static func page(_ path: String, _ type: String, _ text: String) -> HttpbinRoute {
        .get(path) { _ in ServerResponse(200, type: type, text) }
    }

    private static let html = """
        <!DOCTYPE html>
        <html>
          <head>
          </head>
          <body>
              <h1>A page of text</h1>
              <p>Whoever fetches this page gets the same words every time, which is all that it is for.</p>
          </body>
        </html>

        """

    private static let xml = """
        <?xml version='1.0' encoding='us-ascii'?>
        <slideshow title="Sample Slide Show" date="Date of publication" author="Yours Truly">
            <slide type="all"><title>One slide</title></slide>
            <slide type="all"><title>Another slide</title><item>A point</item></slide>
        </slideshow>

        """

    private static let slides: JSONText = [
        "slideshow": [
            "author": "Yours Truly", "date": "date of publication",
            "slides": [
                ["title": "One slide", "type": "all"],
                ["items": ["A point"], "title": "Another slide", "type": "all"],
            ],
            "title": "Sample Slide Show",
        ]
    ]

    private static let utf8 = """
        <h1>Unicode</h1>
        <pre>∮ E⋅da = Q, n → ∞, ∑ f(i) = ∏ g(i) · ℕ ⊆ ℤ ⊂ ℚ · Καλημέρα κόσμε · コンニチハ · สวัสดี
        Зарегистрируйтесь · ሰላም · ᚠᛇᚻ · ⡌⠁⠧⠑ · “quotes” — 1⁄2 · 𝄞 · 👩‍🚀</pre>

        """

    private static let form = """
        <!DOCTYPE html>
        <html>
          <body>
          <form method="post" action="../post">
           <p><label>Customer name: <input name="custname"></label></p>
           <p><label>Telephone: <input type=tel name="custtel"></label></p>
           <p><label>E-mail address: <input type=email name="custemail"></label></p>
           <p><label><input type=radio name=size value="small"> Small</label>
              <label><input type=radio name=size value="large"> Large</label></p>
           <p><label><input type=checkbox name="topping" value="cheese"> Extra cheese</label>
              <label><input type=checkbox name="topping" value="mushroom"> Mushroom</label></p>
           <p><label>Delivery instructions: <textarea name="comments"></textarea></label></p>
           <p><button>Submit order</button></p>
          </form>
          </body>
        </html>

        """
}
