# Fills the database that STUDY_DB names: the same rows each time.
require_relative "app"

ActiveRecord::Schema.verbose = false
ActiveRecord::Schema.define do
  create_table(:users, force: true) { |t| t.string :name; t.string :email; t.timestamps }
  create_table(:auctions, force: true) { |t| t.string :title; t.text :body; t.references :seller; t.timestamps }
  create_table(:lots, force: true) { |t| t.string :name; t.references :auction; t.timestamps }
  create_table(:bids, force: true) { |t| t.references :lot; t.references :user; t.integer :amount; t.timestamps }
  create_table(:comments, force: true) { |t| t.references :auction; t.references :user; t.text :body; t.timestamps }
end
[User, Auction, Lot, Bid, Comment].each(&:reset_column_information)

# Old enough that "3 years ago" stays as it is while the study runs: pages must not differ in length.
TIME = Time.utc(2020, 1, 1)
TIMES = { created_at: TIME, updated_at: TIME }.freeze
random = Random.new(42)
rows = ->(count, &row) { (1..count).map { |number| row.(number).merge(TIMES) } }
User.insert_all!(rows.(200) { |n| { name: "Kay#{n}", email: "kay#{n}@example.test" } })
Auction.insert_all!(rows.(50) { |n| { title: "Auction #{n}", body: "Lorem ipsum " * 40, seller_id: 1 + random.rand(200) } })
Lot.insert_all!(rows.(400) { |n| { name: "Lot #{n}", auction_id: 1 + (n - 1) % 50 } })
Bid.insert_all!(rows.(8000) { { lot_id: 1 + random.rand(400), user_id: 1 + random.rand(200), amount: 10 + random.rand(5000) } })
Comment.insert_all!(rows.(1000) { |n| { auction_id: 1 + (n - 1) % 50, user_id: 1 + random.rand(200), body: "Comment #{n} " * 6 } })
