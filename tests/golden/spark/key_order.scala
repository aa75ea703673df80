// Prints the text of connectors' offsets in the key order of the Scala that runs it, one a line:
// first shard, number of shards, step, connector, SHA-256 of the text, and short texts in full.
// See key_order.json for the runs.
import java.security.MessageDigest
import scala.collection.mutable

object KeyOrder {
  type Inner = mutable.HashMap[String, String]

  def quoted(text: String): String = "\"" + text + "\""

  def written(map: Inner): String =
    map.iterator.map { case (key, value) => quoted(key) + ":" + quoted(value) }.mkString("{", ",", "}")

  def place(aggregates: Boolean): Inner = {
    val members = new mutable.HashMap[String, String]
    members.put("iteratorType", "TRIM_HORIZON")
    members.put("iteratorPosition", "")
    if (aggregates) { members.put("subSequenceNumber", "-1"); members.put("isLast", "true") }
    members
  }

  def offset(shards: Seq[String], aggregates: Boolean): String = {
    val all = mutable.HashMap("metadata" -> mutable.HashMap("batchId" -> "7", "streamName" -> "st"))
    for (shard <- shards.sorted) all.put(shard, place(aggregates))
    all.iterator.map { case (key, map) => quoted(key) + ":" + written(map) }.mkString("{", ",", "}")
  }

  def digest(text: String): String =
    MessageDigest.getInstance("SHA-256").digest(text.getBytes("UTF-8")).map("%02x".format(_)).mkString

  val sizes = Seq(1, 2, 3, 5, 6, 10, 11, 12, 13, 23, 24, 25, 47, 48, 95, 96, 191, 192, 383, 384, 767, 768,
    1000, 1535, 1536, 3000, 10000, 100000)

  def main(arguments: Array[String]): Unit = {
    val sets = sizes.map(n => (0, n, 1)) ++ Seq((1, 2, 1), (7, 5, 1), (100, 13, 3), (95, 25, 7), (999, 100, 13),
      (123456, 1000, 17), (99999990, 12, 1), (1, 40, 24999999))
    for ((first, count, step) <- sets; connector <- Seq("awslabs", "qubole")) {
      val shards = (0 until count).map(i => f"shardId-${first.toLong + i.toLong * step}%012d")
      val text = offset(shards, connector == "awslabs")
      val shown = if (count <= 13) text else ""
      println(Seq(first, count, step, connector, digest(text), shown).mkString("\t"))
    }
  }
}
