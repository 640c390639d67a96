fetch(process.argv[2]).then((response) => response.text()).then((text) => process.stdout.write(text))
