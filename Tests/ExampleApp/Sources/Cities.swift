import Vellum

@main
struct Cities {
    static func main() throws {
        let cities = try ArchivesFactory.shared.archives(
            for: City.self,
            trySetMaxMemorySize: 4.megaBytes,
            trySetMaxDiskSize: 40.megaBytes)

        if cities.currentSize == 0 {
            for number in 0..<100_000 { cities.record(City(number: number)) }
            print("recorded 100,000 cities")
        } else {
            print("the cities are still there")
        }

        let largest = cities.findWhere { city in
            city.country(.isEqual(with: "ID"))
                .rivers(.isNotEmpty)
        }
        .sorted { by in
            by.population(.descending)
        }
        .limitResults(by: 3)
        .getResults()
        for city in largest { print(city.name, city.population) }

        print("the store is \(ArchivesFactory.shared.storePath); press return to end")
        _ = readLine()
    }
}
