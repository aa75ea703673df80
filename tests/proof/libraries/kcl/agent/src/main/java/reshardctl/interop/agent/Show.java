package reshardctl.interop.agent;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.jar.JarFile;

/**
 * Writes each class of a library jar that is to be touched, as it is and as the agent leaves it.
 *
 * <p>{@code java -jar agent.jar LIBRARY.jar FOLDER} leaves {@code FOLDER/stock/…} and
 * {@code FOLDER/shortened/…} for a comparison of their disassembly, and prints one line a class.
 */
public final class Show {
    private Show() {}

    public static void main(String[] arguments) throws Exception {
        try (var library = new JarFile(arguments[0])) {
            for (var wait : Wait.ALL) {
                var name = wait.type() + ".class";
                var entry = library.getEntry(name);
                if (entry == null || !wait.asked()) {
                    continue;
                }
                var stock = library.getInputStream(entry).readAllBytes();
                write(Path.of(arguments[1], "stock", name), stock);
                write(Path.of(arguments[1], "shortened", name), Shortened.of(stock, wait));
                System.out.println(wait);
            }
        }
    }

    private static void write(Path path, byte[] bytes) throws Exception {
        Files.createDirectories(path.getParent());
        Files.write(path, bytes);
    }
}
