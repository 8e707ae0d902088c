import Eidetic
import EideticCore

/// What a command line asks to be loaded, and what is to be done with it.
struct LoadPlan: Sendable {
    /// A URL, and how often the list names it.
    struct Item: Sendable {
        let url: String
        /// The name of its file, without an ending.
        let name: String
        var count = 1
    }

    /// The URLs in the order of the list, each once.
    let items: [Item]
    /// The size into which pictures are fitted; `nil` for their own.
    let size: PixelSize?
    /// Downloads at once.
    let concurrency: Int
    /// How the network is asked.
    let transfer: TransferPlan
    /// The directory into which pictures are written.
    let directory: String?
    /// The file of the contact sheet.
    let sheet: String?
    /// How pictures are shown.
    let graphics: TerminalGraphics?
    /// Whether the outcome is written for programs.
    let isJSON: Bool
    /// Whether the record of each load is told.
    let isExplained: Bool
    /// What is asked for besides what the command itself needs.
    let options: ImageOptions

    init(_ arguments: Arguments, urls: [String]) {
        items = Self.items(urls)
        size = arguments[CommonSettings.size]
        concurrency = arguments[LoadCommand.concurrency] ?? 6
        transfer = TransferPlan(arguments)
        directory = arguments[LoadCommand.out]
        sheet = arguments[LoadCommand.sheet]
        graphics = arguments.contains(LoadCommand.show.option) ? arguments[LoadCommand.show] ?? .detect() : nil
        isJSON = arguments.contains(CommonSettings.json)
        isExplained = arguments.contains(LoadCommand.explain)
        options = LoadCommand.options(arguments)
    }

    /// How many outcomes there will be.
    var total: Int { items.reduce(0) { $0 + $1.count } }

    private static func items(_ urls: [String]) -> [Item] {
        var places: [String: Int] = [:]
        var items: [Item] = []
        var names = OutputNames()
        for url in urls {
            if let place = places[url] {
                items[place].count += 1
            } else {
                places[url] = items.count
                items.append(Item(url: url, name: names.next(for: url)))
            }
        }
        return items
    }
}
